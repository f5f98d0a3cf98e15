#include "capture/stream_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

namespace torchmem::capture {
namespace {

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
  buffer_.reserve(kBufferBytes + 4096);
  buffer_ = "torchmem-stream 1\n";
}

StreamWriter::~StreamWriter() {
  flush();
  ::close(fd_);
}

void StreamWriter::facts(const nlohmann::json& patch) { record('M', patch); }

StackId StreamWriter::stack(const Stack& frames) {
  auto json = nlohmann::json::array();
  for (const auto& frame : frames) {
    json.push_back({{"filename", frame.filename}, {"line", frame.line}, {"name", frame.name}});
  }
  const std::string text = dump(json);
  const std::lock_guard lock(mutex_);
  const StackId id = stacks_++;
  buffer_ += 'F';
  append_number(buffer_, static_cast<std::uint64_t>(id));
  buffer_ += ' ';
  append(text);
  append("\n");
  return id;
}

std::uint64_t StreamWriter::event(const AllocatorEvent& event) {
  const std::lock_guard lock(mutex_);
  buffer_ += "E ";
  buffer_ += event.action;
  append_number(buffer_, static_cast<std::uint64_t>(event.device));
  append_number(buffer_, event.address);
  append_number(buffer_, event.size);
  append_number(buffer_, event.stream);
  append_number(buffer_, event.time_us);
  append_index(buffer_, event.stack);
  append("\n");
  return events_++;
}

void StreamWriter::block(std::uint64_t event_index, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  buffer_ += 'B';
  append_number(buffer_, event_index);
  append_number(buffer_, bytes);
  append("\n");
}

TensorId StreamWriter::tensor(std::string_view name, std::string_view dtype,
                              const std::vector<std::int64_t>& shape) {
  const std::string text = dump({{"name", name}, {"dtype", dtype}, {"shape", shape}});
  const std::lock_guard lock(mutex_);
  const TensorId id = tensors_++;
  buffer_ += 'T';
  append_number(buffer_, static_cast<std::uint64_t>(id));
  buffer_ += ' ';
  append(text);
  append("\n");
  return id;
}

void StreamWriter::owner(std::uint64_t event_index, std::string_view category, TensorId tensor,
                         StackId saved_by) {
  const std::lock_guard lock(mutex_);
  buffer_ += 'O';
  append_number(buffer_, event_index);
  buffer_ += ' ';
  buffer_ += category;
  append_index(buffer_, tensor);
  append_index(buffer_, saved_by);
  append("\n");
}

void StreamWriter::phase(nlohmann::json json) {
  json["events"] = events();
  record('P', json);
  flush();
}

void StreamWriter::finding(const nlohmann::json& json) { record('V', json); }

void StreamWriter::final_snapshot(const nlohmann::json& json) {
  record('Z', json);
  flush();
}

void StreamWriter::error(const nlohmann::json& json) {
  record('X', json);
  flush();
}

void StreamWriter::flush() {
  const std::lock_guard lock(mutex_);
  write_out();
}

void StreamWriter::flush_from_signal() noexcept { write_out(); }

std::uint64_t StreamWriter::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

int StreamWriter::error_number() const {
  const std::lock_guard lock(mutex_);
  return error_number_;
}

void StreamWriter::record(char kind, const nlohmann::json& json) {
  const std::string text = dump(json);
  const std::lock_guard lock(mutex_);
  buffer_ += kind;
  buffer_ += ' ';
  append(text);
  append("\n");
}

void StreamWriter::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) write_out();
}

void StreamWriter::write_out() noexcept {
  std::size_t done = 0;
  while (done < buffer_.size() && error_number_ == 0) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      error_number_ = errno;
    }
  }
  buffer_.clear();
}

}  // namespace torchmem::capture
