#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace torchmem::vgpu {

// A part of a file that holds bytes of the host's. What was written for it alone is given back to the file
// system with it.
class Extent {
 public:
  Extent(std::shared_ptr<const int> file, off_t offset, size_t bytes, bool is_own, pid_t owner)
      : file_(std::move(file)), offset_(offset), bytes_(bytes), is_own_(is_own), owner_(owner) {}
  ~Extent();
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;

  bool read(size_t at, void* to, size_t bytes) const;

 private:
  std::shared_ptr<const int> file_;  // its descriptor
  off_t offset_;
  size_t bytes_;
  bool is_own_;
  pid_t owner_;  // a child of fork must not take its parent's away
};

// Keeps large copies from the host, so that they cost disk and no memory: bytes that are a file's own (a
// mapped file whose pages nobody wrote to) stay there, others go to a file without a name.
class HostFile {
 public:
  // Null when there is no room, or no place that is not itself memory.
  std::shared_ptr<const Extent> keep(const void* bytes, size_t size);

 private:
  std::shared_ptr<const Extent> copy(const void* bytes, size_t size);
  bool open_file();

  std::shared_ptr<const int> file_;
  pid_t owner_ = 0;
  off_t end_ = 0;
};

// The file behind a private or shared mapping, if all of [bytes, bytes + size) is one file's and unchanged
// since it was mapped, as /proc/self/pagemap tells; null otherwise.
std::shared_ptr<const Extent> mapped_extent(const void* bytes, size_t size);

}  // namespace torchmem::vgpu
