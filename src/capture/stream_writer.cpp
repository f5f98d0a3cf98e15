#include "capture/stream_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <system_error>
#include <utility>

namespace torchmem::capture {
namespace {

// Records that are noted before the thread begins to write them.
constexpr std::size_t written_at_once = 8192;
constexpr std::size_t buffer_bytes = 64 * 1024;

void append_number(std::string& text, std::uint64_t value) {
  char digits[24];
  digits[0] = ' ';
  const auto end = std::to_chars(digits + 1, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

// An index, or "-" for none.
void append_index(std::string& text, std::int64_t index) {
  if (index < 0) {
    text += " -";
  } else {
    append_number(text, static_cast<std::uint64_t>(index));
  }
}

// Text from a model may hold bytes that are no UTF-8; they are replaced, never refused.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// How many locks this thread holds or waits for, and the signal that waits until it has none.
thread_local volatile std::sig_atomic_t locks = 0;
thread_local volatile std::sig_atomic_t put_off = 0;

static_assert(std::atomic<unsigned>::is_always_lock_free, "a signal handler uses them");

}  // namespace

// A handler that waits for the thread would wait for ever for a lock that its own thread holds; so such a
// signal is raised again when the lock is given back.
class StreamWriter::Lock {
 public:
  explicit Lock(std::mutex& mutex) : mutex_(mutex) {
    locks = locks + 1;
    mutex_.lock();
  }
  ~Lock() {
    mutex_.unlock();
    locks = locks - 1;
    if (locks > 0 || put_off == 0) return;
    const int number = put_off;
    put_off = 0;
    std::raise(number);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::mutex& mutex_;
};

std::unique_ptr<StreamWriter> StreamWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), "cannot write the event stream " + path);
  return std::unique_ptr<StreamWriter>(new StreamWriter(fd));
}

StreamWriter::StreamWriter(int fd) : fd_(fd) {
  line("torchmem-stream 1\n");
  batch_.records.reserve(2 * written_at_once);
  written_.records.reserve(2 * written_at_once);
  buffer_.reserve(buffer_bytes + 4096);
  sem_init(&work_, /*pshared=*/0, 0);
  // Signals are for the threads that know what to do with them: the thread begins with all of them blocked.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StreamWriter::~StreamWriter() {
  ends_ = true;
  sem_post(&work_);
  thread_.join();
  flush();
  ::close(fd_);
  sem_destroy(&work_);
}

void StreamWriter::facts(const nlohmann::json& patch) { text_record('M', patch); }

StackId StreamWriter::stack(const Stack& frames) {
  auto json = nlohmann::json::array();
  for (const auto& frame : frames) {
    json.push_back({{"filename", frame.filename}, {"line", frame.line}, {"name", frame.name}});
  }
  const std::string text = dump(json);
  const Lock lock(mutex_);
  const StackId id = stacks_++;
  line("F " + std::to_string(id) + " " + text + "\n");
  return id;
}

TensorId StreamWriter::tensor(std::string_view name, std::string_view dtype,
                              const std::vector<std::int64_t>& shape) {
  const std::string text = dump({{"name", name}, {"dtype", dtype}, {"shape", shape}});
  const Lock lock(mutex_);
  const TensorId id = tensors_++;
  line("T " + std::to_string(id) + " " + text + "\n");
  return id;
}

std::uint64_t StreamWriter::event(const AllocatorEvent& event) {
  Record record;
  record.kind = Record::Kind::event;
  record.event = event;
  const Lock lock(mutex_);
  note(record);
  return events_++;
}

void StreamWriter::owner(std::uint64_t event_index, std::string_view category, TensorId tensor,
                         StackId saved_by) {
  Record record;
  record.kind = Record::Kind::owner;
  record.event.action = category;
  record.event.stack = saved_by;
  record.number = event_index;
  record.tensor = tensor;
  const Lock lock(mutex_);
  note(record);
}

void StreamWriter::phase(nlohmann::json json) {
  json["events"] = events();
  text_record('P', json);
  flush();
}

void StreamWriter::assumption(const nlohmann::json& json) { text_record('V', json); }

void StreamWriter::final_snapshot(const nlohmann::json& json) {
  text_record('Z', json);
  flush();
}

void StreamWriter::error(const nlohmann::json& json) {
  text_record('X', json);
  flush();
}

void StreamWriter::flush() {
  const Lock lock(write_mutex_);
  write_batch();
}

bool StreamWriter::flush_from_signal(int number) noexcept {
  constexpr int longest = 4000;  // milliseconds; torchmem kills an engine five seconds after an interruption
  if (locks > 0) {
    put_off = number;
    return false;
  }
  const unsigned mine = asked_.fetch_add(1) + 1;
  sem_post(&work_);
  for (int i = 0; i < longest && static_cast<int>(answered_.load() - mine) < 0; ++i) poll(nullptr, 0, 1);
  return true;
}

std::uint64_t StreamWriter::events() const {
  const Lock lock(mutex_);
  return events_;
}

int StreamWriter::error_number() const { return error_number_; }

void StreamWriter::text_record(char kind, const nlohmann::json& json) {
  std::string text = {kind, ' '};
  text += dump(json);
  text += '\n';
  const Lock lock(mutex_);
  line(std::move(text));
}

// With `mutex_` held, but for the first line.
void StreamWriter::line(std::string text) {
  Record record;
  record.number = batch_.lines.size();
  batch_.lines.push_back(std::move(text));
  note(record);
}

void StreamWriter::note(const Record& record) {
  batch_.records.push_back(record);
  if (batch_.records.size() == written_at_once) sem_post(&work_);
}

void StreamWriter::run() {
  locks = 1;  // a fault in this thread has nobody to wait for
  while (!ends_) {
    if (sem_wait(&work_) != 0) continue;
    const unsigned asked = asked_;
    flush();
    answered_ = asked;
  }
}

void StreamWriter::write_batch() noexcept {
  {
    const Lock lock(mutex_);
    std::swap(batch_, written_);
  }
  write_records(written_);
  written_.records.clear();
  written_.lines.clear();
}

void StreamWriter::write_records(const Batch& batch) noexcept {
  for (const auto& record : batch.records) {
    if (buffer_.size() >= buffer_bytes) {
      write_out(buffer_);
      buffer_.clear();
    }
    const AllocatorEvent& event = record.event;
    switch (record.kind) {
      case Record::Kind::text:
        buffer_ += batch.lines[record.number];
        continue;
      case Record::Kind::event:
        buffer_ += "E ";
        buffer_ += event.action;
        append_number(buffer_, static_cast<std::uint64_t>(event.device));
        append_number(buffer_, event.address);
        append_number(buffer_, event.size);
        append_number(buffer_, event.stream);
        append_number(buffer_, event.time_us);
        append_index(buffer_, event.stack);
        break;
      case Record::Kind::owner:
        buffer_ += "O";
        append_number(buffer_, record.number);
        buffer_ += ' ';
        buffer_ += event.action;
        append_index(buffer_, record.tensor);
        append_index(buffer_, event.stack);
        break;
    }
    buffer_ += '\n';
  }
  write_out(buffer_);
  buffer_.clear();
}

void StreamWriter::write_out(std::string_view text) noexcept {
  while (!text.empty() && error_number_ == 0) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      error_number_ = errno;
    }
  }
}

}  // namespace torchmem::capture
