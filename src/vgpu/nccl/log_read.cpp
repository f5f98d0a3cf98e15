#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "identity.h"
#include "log_format.h"
#include "peer_process.h"

namespace torchmem::vgpu::nccl {

// A record counts when all of it is there: its writer may be at it, or have ended in the middle.
bool LogReader::read_record(int file, uint64_t at, uint64_t end, Record* record, uint64_t* next) {
  RecordHeader header;
  if (at + sizeof header > end || !read_at(file, at, &header, sizeof header)) return false;
  if (header.magic != record_magic || header.lane > 1) return false;
  if (at + sizeof header + size_of(header) > end) return false;
  record->what = header.what;
  record->to = header.to;
  record->lane = static_cast<Lane>(header.lane);
  record->sequence = header.sequence;
  record->bytes = header.bytes;
  *next = at + sizeof header + size_of(header);
  return true;
}

// Notes where the records are that came since the last time. False when the file is not a log any more.
bool LogReader::scan(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  auto end = static_cast<uint64_t>(status.st_size);
  if (scanned_ == 0) scanned_ = sizeof(LogHeader);
  if (end < scanned_) return false;
  Record record;
  for (uint64_t next = 0; read_record(file, scanned_, end, &record, &next); scanned_ = next) {
    if (record.to == everybody || record.to == reader_)
      places_[static_cast<size_t>(record.lane)].push_back({record.sequence, scanned_});
  }
  return true;
}

bool LogReader::look(int file, Lane lane, uint64_t sequence, Record* record, uint64_t* payload_at) const {
  const std::vector<Place>& places = places_[static_cast<size_t>(lane)];
  auto place = std::lower_bound(places.begin(), places.end(), sequence,
                                [](const Place& one, uint64_t wanted) { return one.sequence < wanted; });
  if (place == places.end() || place->sequence != sequence) return false;
  *payload_at = place->at + sizeof(RecordHeader);
  uint64_t next = 0;
  return read_record(file, place->at, UINT64_MAX, record, &next);
}

// Whether more may come is found out before the records are read: what came last must not be missed.
LogReader::Found LogReader::find(Lane lane, uint64_t sequence, Record* record, uint64_t* payload_at) {
  File file(path_, O_RDONLY);
  if (!file) return Found::not_there;
  LogHeader header;
  if (!read_at(file.number(), 0, &header, sizeof header) || header.magic != log_magic) return Found::broken;
  std::lock_guard<Mutex> lock(mutex_);
  if (!scan(file.number())) return Found::broken;
  if (look(file.number(), lane, sequence, record, payload_at)) return Found::here;
  if (header.closed) return Found::unknown;
  if (header.left) return Found::left;
  auto process = static_cast<pid_t>(header.process);
  if (process == getpid() || process_start(process) == header.process_start) return Found::not_yet;
  if (!scan(file.number())) return Found::broken;
  return look(file.number(), lane, sequence, record, payload_at) ? Found::here : Found::ended;
}

bool LogReader::read(const Record& record, uint64_t payload_at, void* to, unsigned char* states) const {
  File file(path_, O_RDONLY);
  RecordHeader header;
  if (!file || !read_at(file.number(), payload_at - sizeof header, &header, sizeof header)) return false;
  if ((header.payload != record.bytes && header.payload != 0) || header.runs > record.bytes) return false;
  std::vector<unsigned char> rest(size_of(header));
  if (!read_at(file.number(), payload_at, rest.data(), rest.size())) return false;
  if (header.check != checksum(rest.data(), rest.size(), checksum(&header, offsetof(RecordHeader, check), 0)))
    return false;
  std::memset(to, 0, record.bytes);
  if (header.payload > 0) std::memcpy(to, rest.data(), header.payload);
  size_t at = 0;
  for (uint32_t i = 0; i < header.runs; ++i) {
    Run run;
    std::memcpy(&run, rest.data() + header.payload + i * sizeof run, sizeof run);
    size_t length = run >> run_bits;
    if (length > record.bytes - at) return false;
    std::memset(states + at, static_cast<int>(run & 3), length);
    at += length;
  }
  return at == record.bytes;
}

}  // namespace torchmem::vgpu::nccl
