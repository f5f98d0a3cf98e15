// What the memory was made of at a moment, as JSON (docs/schema/common.json).
#pragma once

#include <nlohmann/json.hpp>

#include "torchmem/analysis.h"

namespace torchmem {

// The "by_..." views of a point. The largest `most_blocks` blocks are listed one by one, in all and of each
// segment; what is left out is stated as a sum.
nlohmann::json views_json(const Analysis& analysis, const Breakdown& breakdown, size_t most_blocks);

// The allocator's sums at a moment.
nlohmann::json totals_json(const AllocatorTotals& totals, uint64_t largest_inactive);

// The views with the moment's name, place and sums.
nlohmann::json point_json(const Analysis& analysis, const Breakdown& breakdown, size_t most_blocks);

nlohmann::json growth_json(const Analysis& analysis, size_t most_blocks);

}  // namespace torchmem
