#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "identity.h"
#include "log_format.h"
#include "peer_process.h"
#include "values.h"

namespace torchmem::vgpu::nccl {
namespace {

// Of all logs of this process. A step sends a few kilobytes, so this is never reached where steps are few.
constexpr uint64_t default_limit = uint64_t{256} << 20;

uint64_t limit() {
  const char* given = std::getenv("TORCHMEM_NCCL_LOG_BYTES");
  return given && *given ? std::strtoull(given, nullptr, 10) : default_limit;
}

std::atomic<pid_t> writing_process{0};
std::atomic<uint64_t> written{0};
std::atomic<bool> closing_said{false};

// A child made by fork has written nothing yet.
void count_for(pid_t process) {
  if (writing_process.exchange(process) == process) return;
  written = 0;
  closing_said = false;
}

std::vector<Run> runs_of(const unsigned char* states, size_t size) {
  std::vector<Run> runs;
  for (size_t at = 0; at < size;) {
    size_t end = at + 1;
    while (end < size && states[end] == states[at]) ++end;
    runs.push_back(static_cast<Run>(end - at) << run_bits | states[at]);
    at = end;
  }
  return runs;
}

}  // namespace

LogWriter::LogWriter(std::string path, int rank, int ranks) : path_(std::move(path)), owner_(getpid()) {
  count_for(owner_);
  LogHeader header;
  header.process = owner_;
  header.process_start = process_start(owner_);
  header.rank = rank;
  header.ranks = ranks;
  // Under another name first: whoever finds it finds a whole header.
  std::string unfinished = path_ + ".new-" + std::to_string(owner_);
  {
    File file(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file || !write_at(file.number(), 0, &header, sizeof header)) return;
  }
  made_ = std::rename(unfinished.c_str(), path_.c_str()) == 0;
}

void LogWriter::append(const Record& record, const void* payload, const unsigned char* states) {
  std::lock_guard<Mutex> lock(mutex_);
  if (!made_ || closed_ || !mine()) return;
  RecordHeader header;
  header.lane = static_cast<uint32_t>(record.lane);
  header.what = record.what;
  header.to = record.to;
  std::vector<Run> runs = runs_of(states, record.bytes);
  bool is_unknown = runs.size() == 1 && (runs[0] & 3) == tmv_value_unknown;
  header.payload = is_unknown ? 0 : static_cast<uint32_t>(record.bytes);
  header.runs = static_cast<uint32_t>(runs.size());
  header.sequence = record.sequence;
  header.bytes = record.bytes;
  std::vector<unsigned char> all(sizeof header + size_of(header));
  unsigned char* rest = all.data() + sizeof header;
  if (header.payload > 0) std::memcpy(rest, payload, header.payload);
  if (!runs.empty()) std::memcpy(rest + header.payload, runs.data(), runs.size() * sizeof(Run));
  header.check = checksum(rest, size_of(header), checksum(&header, offsetof(RecordHeader, check), 0));
  std::memcpy(all.data(), &header, sizeof header);
  if (written.fetch_add(all.size(), std::memory_order_relaxed) + all.size() > limit())
    return close_for_good("more than TORCHMEM_NCCL_LOG_BYTES was sent");
  File file(path_, O_WRONLY);
  struct stat status {};
  if (!file || fstat(file.number(), &status) != 0) return close_for_good("its log is gone");
  auto end = static_cast<uint64_t>(status.st_size);
  if (write_at(file.number(), end, all.data(), all.size())) return;
  int cut = ftruncate(file.number(), status.st_size);
  (void)cut;
  close_for_good(std::strerror(errno));
}

void LogWriter::close_for_good(const char* reason) {
  closed_ = true;
  flag(offsetof(LogHeader, closed));
  if (!closing_said.exchange(true))
    say("NCCL: small values of this process (%ld) no longer reach other ranks: %s; there they are unknown",
        static_cast<long>(owner_), reason);
}

void LogWriter::leave() {
  std::lock_guard<Mutex> lock(mutex_);
  if (made_ && mine()) flag(offsetof(LogHeader, left));
}

void LogWriter::flag(size_t field) {
  const uint64_t yes = 1;
  if (File file(path_, O_WRONLY); file) write_at(file.number(), field, &yes, sizeof yes);
}

}  // namespace torchmem::vgpu::nccl
