#include "analyze/usage.h"

#include <algorithm>
#include <tuple>

namespace torchmem {

void add(UsageEntry& share, const BlockLife& block) {
  share.bytes += block.size;
  share.requested += block.requested;
  ++share.blocks;
}

void sort_entries(std::vector<UsageEntry>& shares) {
  std::sort(shares.begin(), shares.end(), [](const UsageEntry& a, const UsageEntry& b) {
    return std::tie(b.bytes, a.name) < std::tie(a.bytes, b.name);
  });
}

void sort_by_size(std::vector<const BlockLife*>& blocks) {
  // A history's blocks are one array in order of birth.
  std::sort(blocks.begin(), blocks.end(), [](const BlockLife* a, const BlockLife* b) {
    return std::tie(b->size, a) < std::tie(a->size, b);
  });
}

}  // namespace torchmem
