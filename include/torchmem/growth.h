// What each iteration leaves behind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/run.h"

namespace torchmem {

// Bytes that an iteration left behind: alive at its end and born in it, in every iteration but the first,
// each time as many; by owner. What only the first iteration leaves (optimizer state, workspaces) is no
// growth.
struct Growth {
  uint64_t bytes_per_iteration = 0;
  int64_t first_iteration = 0;  // the first one that grew
  std::string phase;            // in which most of it was born
  std::vector<UsageEntry> categories;
  std::vector<UsageEntry> ops;
  std::vector<UsageEntry> modules;
  std::vector<UsageEntry> lines;
  std::vector<const BlockLife*> blocks;  // that the last iteration left
};
// Nothing when no iteration but the first leaves more than the one before it did, or there are fewer than
// two.
std::optional<Growth> find_growth(const Run& run, const BlockHistory& history, int32_t device);

}  // namespace torchmem
