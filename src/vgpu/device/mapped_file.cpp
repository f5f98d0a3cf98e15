// Which file a piece of host memory is mapped from.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "host_file.h"

namespace torchmem::vgpu {
namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t present = uint64_t{1} << 63, swapped = uint64_t{1} << 62, of_file = uint64_t{1} << 61;

struct Mapping {
  uint64_t begin = 0, end = 0, offset = 0;
  unsigned major = 0, minor = 0;
  uint64_t inode = 0;
  char path[4096] = "";
};

bool find_mapping(uint64_t address, Mapping& mapping) {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return false;
  bool found = false;
  char line[4400];
  while (!found && std::fgets(line, sizeof line, maps)) {
    unsigned long begin = 0, end = 0, offset = 0, inode = 0;
    int path_at = 0;
    if (std::sscanf(line, "%lx-%lx %*4s %lx %x:%x %lu %n", &begin, &end, &offset, &mapping.major,
                    &mapping.minor, &inode, &path_at) < 6 ||
        address < begin || address >= end)
      continue;
    found = true;
    mapping.begin = begin;
    mapping.end = end;
    mapping.offset = offset;
    mapping.inode = inode;
    line[std::strcspn(line, "\n")] = '\0';
    std::strncpy(mapping.path, line + path_at, sizeof mapping.path - 1);
  }
  std::fclose(maps);
  return found && mapping.inode != 0 && mapping.path[0] == '/';
}

// A page that was never touched is the file's still; a written one of a private mapping is the process's own.
bool is_unchanged(uint64_t begin, uint64_t end) {
  int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return false;
  bool unchanged = true;
  uint64_t entries[512];
  for (uint64_t at = begin / page, last = (end - 1) / page; unchanged && at <= last;) {
    auto count = static_cast<size_t>(std::min<uint64_t>(512, last - at + 1));
    auto want = static_cast<ssize_t>(count * sizeof *entries);
    unchanged = pread(pagemap, entries, static_cast<size_t>(want),
                      static_cast<off_t>(at * sizeof *entries)) == want &&
                std::all_of(entries, entries + count, [](uint64_t entry) {
                  return !(entry & swapped) && (!(entry & present) || entry & of_file);
                });
    at += count;
  }
  close(pagemap);
  return unchanged;
}

}  // namespace

std::shared_ptr<const Extent> mapped_extent(const void* bytes, size_t size) {
  auto address = reinterpret_cast<uint64_t>(bytes);
  Mapping mapping;
  if (size == 0 || !find_mapping(address, mapping) || address + size > mapping.end ||
      !is_unchanged(address, address + size))
    return nullptr;
  int file = open(mapping.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return nullptr;
  std::shared_ptr<const int> owned(new int(file), [](const int* descriptor) {
    close(*descriptor);
    delete descriptor;
  });
  struct stat facts {};
  uint64_t offset = mapping.offset + (address - mapping.begin);
  if (fstat(file, &facts) != 0 || facts.st_ino != mapping.inode || major(facts.st_dev) != mapping.major ||
      minor(facts.st_dev) != mapping.minor || offset + size > static_cast<uint64_t>(facts.st_size))
    return nullptr;
  return std::make_shared<const Extent>(std::move(owned), static_cast<off_t>(offset), size, false, getpid());
}

}  // namespace torchmem::vgpu
