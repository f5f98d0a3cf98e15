#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

#include "log.h"

// A log's bytes: a header, then records, each with its payload behind it. Native numbers: all ranks run on
// one machine.
namespace torchmem::vgpu::nccl {

constexpr uint64_t log_magic = 0x316c63636e6d7431ull;
constexpr uint32_t record_magic = 0x6d6e6372u;

struct LogHeader {
  uint64_t magic = log_magic;
  int64_t process = 0;
  uint64_t process_start = 0;  // tells it from a later process of the same number
  int32_t rank = 0;
  int32_t ranks = 0;
  uint64_t closed = 0;  // no more records: what would have come is unknown
  uint64_t left = 0;    // no more records: the rank gave up the communicator
};

struct RecordHeader {
  uint32_t magic = record_magic;
  uint32_t lane = 0;
  uint32_t what = 0;
  int32_t to = 0;
  uint32_t payload = 0;  // bytes that follow: the message, or nothing where all of it is unknown
  uint32_t runs = 0;     // how many of those follow then
  uint64_t sequence = 0;
  uint64_t bytes = 0;
  uint64_t check = 0;  // of all before, and the payload
};

// A run of bytes of one state: the state in the lowest two bits, the length above.
using Run = uint32_t;
constexpr uint32_t run_bits = 2;

inline uint64_t size_of(const RecordHeader& header) { return header.payload + header.runs * sizeof(Run); }

class File {
 public:
  File(const std::string& path, int flags) : number_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (number_ >= 0) close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

inline bool read_at(int file, uint64_t at, void* to, size_t bytes) {
  auto* next = static_cast<char*>(to);
  while (bytes > 0) {
    ssize_t got = pread(file, next, bytes, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    at += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

inline bool write_at(int file, uint64_t at, const void* from, size_t bytes) {
  auto* next = static_cast<const char*>(from);
  while (bytes > 0) {
    ssize_t put = pwrite(file, next, bytes, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    next += put;
    at += static_cast<uint64_t>(put);
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

}  // namespace torchmem::vgpu::nccl
