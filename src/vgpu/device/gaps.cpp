#include "gaps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace torchmem::vgpu {
namespace {

using Mappings = std::vector<std::pair<uint64_t, uint64_t>>;

std::string read_maps() {
  std::string text;
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char buffer[1 << 14];
  for (ssize_t got; (got = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(file);
  return text;
}

// What is mapped below the stack, in rising order. The kernel maps nothing between the highest of these and
// the stack.
Mappings mappings_below_stack() {
  Mappings mappings;
  const std::string text = read_maps();
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    const char* line = text.c_str() + at;
    if (memmem(line, end - at, "[stack]", 7)) break;
    char* after = nullptr;
    uint64_t first = strtoull(line, &after, 16);
    uint64_t last = *after == '-' ? strtoull(after + 1, nullptr, 16) : first;
    if (last > first) mappings.emplace_back(first, last);
    at = end + 1;
  }
  return mappings;
}

}  // namespace

ModelGaps::ModelGaps(uint64_t begin, uint64_t end) { gaps_[begin] = end; }

uint64_t ModelGaps::take(uint64_t bytes, uint64_t alignment) {
  for (auto gap = gaps_.rbegin(); gap != gaps_.rend(); ++gap) {
    const uint64_t end = gap->second;
    if (end - gap->first < bytes + alignment) continue;
    const uint64_t address = (end - bytes) / alignment * alignment;
    if (gap->first == address) {
      gaps_.erase(address);
    } else {
      gap->second = address;
    }
    if (address + bytes != end) gaps_[address + bytes] = end;
    return address;
  }
  return 0;
}

void ModelGaps::give(uint64_t address, uint64_t bytes) {
  auto gap = gaps_.emplace(address, address + bytes).first;
  if (const auto next = std::next(gap); next != gaps_.end() && next->first == gap->second) {
    gap->second = next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return;
  if (const auto before = std::prev(gap); before->second == address) {
    before->second = gap->second;
    gaps_.erase(gap);
  }
}

uint64_t ProcessGaps::take(uint64_t bytes, uint64_t alignment) {
  const Mappings mappings = mappings_below_stack();
  for (size_t i = mappings.size(); i-- > 1;) {
    const uint64_t begin = mappings[i - 1].second;
    const uint64_t end = mappings[i].first;
    if (end - begin < bytes + alignment) continue;
    const uint64_t address = (end - bytes) / alignment * alignment;
    void* wanted = reinterpret_cast<void*>(address);
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void* mapped = mmap(wanted, bytes, PROT_NONE, flags, -1, 0);
    if (mapped == wanted) return address;
    if (mapped != MAP_FAILED) munmap(mapped, bytes);
  }
  return 0;
}

void ProcessGaps::give(uint64_t address, uint64_t bytes) { munmap(reinterpret_cast<void*>(address), bytes); }

}  // namespace torchmem::vgpu
