#include "capture/stream_writer.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <ctime>
#include <system_error>
#include <utility>

namespace torchmem::capture {
namespace {

/// Records that are noted before the thread begins to write them.
constexpr std::size_t kBatch = 8192;
constexpr std::size_t kBufferBytes = 64 * 1024;

void append_number(std::string& text, std::uint64_t value) {
  char digits[24];
  digits[0] = ' ';
  const auto end = std::to_chars(digits + 1, digits + sizeof digits, value).ptr;
  text.append(digits, end);
}

/// An index, or "-" for none.
void append_index(std::string& text, std::int64_t index) {
  if (index < 0) {
    text += " -";
  } else {
    append_number(text, static_cast<std::uint64_t>(index));
  }
}

/// Text from a model may hold bytes that are no UTF-8; they are replaced, never refused.
std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::unique_ptr<StreamWriter> StreamWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0)
    throw std::system_error(errno, std::generic_category(), "cannot write the event stream " + path);
  return std::unique_ptr<StreamWriter>(new StreamWriter(fd));
}

StreamWriter::StreamWriter(int fd) : fd_(fd) {
  line("torchmem-stream 1\n");
  batch_.records.reserve(2 * kBatch);
  written_.records.reserve(2 * kBatch);
  buffer_.reserve(kBufferBytes + 4096);
  thread_ = std::thread([this] { run(); });
}

StreamWriter::~StreamWriter() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  work_.notify_one();
  thread_.join();
  flush();
  ::close(fd_);
}

void StreamWriter::facts(const nlohmann::json& patch) { text_record('M', patch); }

StackId StreamWriter::stack(const Stack& frames) {
  auto json = nlohmann::json::array();
  for (const auto& frame : frames) {
    json.push_back({{"filename", frame.filename}, {"line", frame.line}, {"name", frame.name}});
  }
  const std::string text = dump(json);
  const std::lock_guard lock(mutex_);
  const StackId id = stacks_++;
  line("F " + std::to_string(id) + " " + text + "\n");
  return id;
}

TensorId StreamWriter::tensor(std::string_view name, std::string_view dtype,
                              const std::vector<std::int64_t>& shape) {
  const std::string text = dump({{"name", name}, {"dtype", dtype}, {"shape", shape}});
  const std::lock_guard lock(mutex_);
  const TensorId id = tensors_++;
  line("T " + std::to_string(id) + " " + text + "\n");
  return id;
}

std::uint64_t StreamWriter::event(const AllocatorEvent& event) {
  Record record;
  record.kind = Record::Kind::event;
  record.event = event;
  const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  note(record);
}

void StreamWriter::phase(nlohmann::json json) {
  json["events"] = events();
  text_record('P', json);
  flush();
}

void StreamWriter::finding(const nlohmann::json& json) { text_record('V', json); }

void StreamWriter::final_snapshot(const nlohmann::json& json) {
  text_record('Z', json);
  flush();
}

void StreamWriter::error(const nlohmann::json& json) {
  text_record('X', json);
  flush();
}

void StreamWriter::flush() {
  const std::lock_guard lock(write_mutex_);
  write_batch();
}

void StreamWriter::flush_from_signal() noexcept {
  constexpr int kTries = 1000;
  constexpr timespec kPause = {0, 1'000'000};
  for (int i = 0; i < kTries; ++i) {
    if (write_mutex_.try_lock()) return write_records(batch_);
    nanosleep(&kPause, nullptr);
  }
}

std::uint64_t StreamWriter::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

int StreamWriter::error_number() const { return error_number_; }

void StreamWriter::text_record(char kind, const nlohmann::json& json) {
  std::string text = {kind, ' '};
  text += dump(json);
  text += '\n';
  const std::lock_guard lock(mutex_);
  line(std::move(text));
}

/// With `mutex_` held, but for the first line.
void StreamWriter::line(std::string text) {
  Record record;
  record.number = batch_.lines.size();
  batch_.lines.push_back(std::move(text));
  note(record);
}

void StreamWriter::note(const Record& record) {
  batch_.records.push_back(record);
  if (batch_.records.size() == kBatch) work_.notify_one();
}

void StreamWriter::run() {
  // Signals are for the threads that know what to do with them.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(mutex_);
  while (!ends_) {
    work_.wait(lock, [this] { return ends_ || batch_.records.size() >= kBatch; });
    lock.unlock();
    flush();
    lock.lock();
  }
}

void StreamWriter::write_batch() noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::swap(batch_, written_);
  }
  write_records(written_);
  written_.records.clear();
  written_.lines.clear();
}

void StreamWriter::write_records(const Batch& batch) noexcept {
  for (const auto& record : batch.records) {
    if (buffer_.size() >= kBufferBytes) {
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
