// Bytes summed by what their blocks have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/owner.h"

namespace torchmem {

// Adds one block to a share.
void add(UsageEntry& share, const BlockLife& block);

// By bytes, largest first, then by name.
void sort_entries(std::vector<UsageEntry>& shares);

// Of blocks that are alive: one share for each name that has any of them, sorted. `owner` gives a block's
// index into `names`.
template <class Owner>
std::vector<UsageEntry> entries_of(const std::vector<const BlockLife*>& blocks,
                                   const std::vector<std::string>& names, Owner owner) {
  std::vector<UsageEntry> all(names.size());
  for (const BlockLife* block : blocks) add(all[owner(*block)], *block);
  std::vector<UsageEntry> shares;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].blocks == 0) continue;
    all[i].name = names[i];
    shares.push_back(std::move(all[i]));
  }
  sort_entries(shares);
  return shares;
}

// Largest first, then the older one.
void sort_by_size(std::vector<const BlockLife*>& blocks);

}  // namespace torchmem
