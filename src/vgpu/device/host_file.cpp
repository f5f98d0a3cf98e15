#include "host_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace torchmem::vgpu {
namespace {

constexpr off_t page = 4096;
constexpr uint64_t room_left = uint64_t{2} << 30;  // on the file system, for everybody else
constexpr long memory_file_systems[] = {0x01021994 /* tmpfs */, 0x858458f6L /* ramfs */};

std::shared_ptr<const int> owned(int descriptor) {
  return {new int(descriptor), [](const int* file) {
            close(*file);
            delete file;
          }};
}

bool is_memory(const char* folder) {
  struct statfs facts {};
  if (statfs(folder, &facts) != 0) return true;
  return std::any_of(std::begin(memory_file_systems), std::end(memory_file_systems),
                     [&](long type) { return facts.f_type == type; });
}

bool has_room(int file, size_t size) {
  struct statvfs facts {};
  if (fstatvfs(file, &facts) != 0) return false;
  return static_cast<uint64_t>(facts.f_bavail) * facts.f_frsize > room_left + size;
}

bool write_all(int file, const void* bytes, size_t size, off_t offset) {
  auto* from = static_cast<const char*>(bytes);
  while (size > 0) {
    ssize_t written = pwrite(file, from, size, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    offset += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

// Older overlay file systems, as containers have, know no files without a name.
int open_nameless(const char* folder) {
  int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  char path[4096];
  if (std::snprintf(path, sizeof path, "%s/torchmem-values-XXXXXX", folder) >= static_cast<int>(sizeof path))
    return -1;
  file = mkostemp(path, O_CLOEXEC);
  if (file >= 0) unlink(path);
  return file;
}

}  // namespace

Extent::~Extent() {
  if (is_own_ && owner_ == getpid())
    fallocate(*file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_, static_cast<off_t>(bytes_));
}

bool Extent::read(size_t at, void* to, size_t bytes) const {
  auto* into = static_cast<char*>(to);
  off_t offset = offset_ + static_cast<off_t>(at);
  while (bytes > 0) {
    ssize_t got = pread(*file_, into, bytes, offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    offset += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool HostFile::open_file() {
  if (owner_ == getpid()) return file_ != nullptr;
  owner_ = getpid();
  file_ = nullptr;
  end_ = 0;
  const char* folders[] = {std::getenv("TORCHMEM_RUN_DIR"), std::getenv("TMPDIR"), "/tmp", "/var/tmp"};
  for (const char* folder : folders) {
    if (!folder || !*folder || is_memory(folder)) continue;
    int file = open_nameless(folder);
    if (file < 0) continue;
    file_ = owned(file);
    return true;
  }
  return false;
}

std::shared_ptr<const Extent> HostFile::copy(const void* bytes, size_t size) {
  if (!open_file() || !has_room(*file_, size) || !write_all(*file_, bytes, size, end_)) return nullptr;
  auto extent = std::make_shared<const Extent>(file_, end_, size, true, owner_);
  end_ += (static_cast<off_t>(size) + page - 1) / page * page;
  return extent;
}

std::shared_ptr<const Extent> HostFile::keep(const void* bytes, size_t size) {
  if (auto mapped = mapped_extent(bytes, size)) return mapped;
  return copy(bytes, size);
}

}  // namespace torchmem::vgpu
