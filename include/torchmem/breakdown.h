// What the memory was made of at one point of a run. Bytes are those of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "torchmem/allocator_state.h"
#include "torchmem/block_history.h"
#include "torchmem/point.h"
#include "torchmem/run.h"

namespace torchmem {

// What owners have in common at one point.
struct UsageEntry {
  std::string name;
  uint64_t bytes = 0;      // of blocks
  uint64_t requested = 0;  // asked for within them
  uint64_t blocks = 0;
};

struct ModuleUsage {
  std::string path;  // "" is the root
  std::string type;
  uint64_t own = 0;                                    // bytes of blocks whose module it is
  uint64_t inclusive = 0;                              // with those of the modules below it
  uint64_t blocks = 0;                                 // own
  std::array<uint64_t, category_count> by_category{};  // of inclusive
  std::vector<ModuleUsage> children;                   // largest first
};

struct SegmentUsage {
  Segment segment;        // as at that point
  uint64_t inactive = 0;  // bytes
  uint64_t largest_inactive = 0;
  std::vector<const BlockLife*> holders;  // the blocks that keep it from being released, largest first
};

// Everything about one point. Lists are by bytes, largest first, then by name.
struct Breakdown {
  Point point;
  AllocatorTotals totals;
  std::array<UsageEntry, category_count>
      categories;    // in the order of Category; they add up to totals.allocated
  ModuleUsage root;  // inclusive == totals.allocated
  std::vector<UsageEntry> ops;
  std::vector<UsageEntry> lines;
  std::vector<const BlockLife*> tensors;  // every block alive, largest first
  std::vector<SegmentUsage> segments;     // by inactive bytes
  uint64_t largest_inactive = 0;          // what would have fitted without a new segment
};
// The pointers are into `history`.
Breakdown break_down(const Run& run, const BlockHistory& history, int32_t device, const Point& point);

}  // namespace torchmem
