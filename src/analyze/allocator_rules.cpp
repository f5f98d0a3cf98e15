#include <algorithm>
#include <bit>
#include <string>

#include "torchmem/allocator_state.h"

namespace torchmem {

namespace {

constexpr uint64_t min_block_size = 512;
constexpr uint64_t small_size =
    1 << 20;  // the largest request of the small pool; the least rest split off in the large
constexpr int first_interval = 20;  // 1 MiB
constexpr int intervals = 16;

uint64_t round_to_division(uint64_t size, uint64_t divisions) {
  if (std::has_single_bit(size)) return size;
  uint64_t floor = std::bit_floor(size);
  uint64_t division = floor >> (std::bit_width(divisions) - 1);
  if (division == 0) return floor << 1;
  uint64_t rounded = size & ~(division - 1);
  return rounded == size ? size : rounded + division;
}

}  // namespace

AllocatorRules AllocatorRules::from_settings(const nlohmann::json& settings) {
  AllocatorRules rules;
  if (!settings.is_object()) return rules;
  auto split = settings.find("max_split_size");
  // -1 stands for no limit.
  if (split != settings.end() && split->is_number_integer() && split->get<int64_t>() > 0) {
    rules.max_split_size = split->get<uint64_t>();
  }
  auto expandable = settings.find("expandable_segments");
  if (expandable != settings.end() && expandable->is_boolean())
    rules.expandable_segments = expandable->get<bool>();
  auto divisions = settings.find("roundup_power2_divisions");
  if (divisions != settings.end() && divisions->is_object()) {
    for (int i = 0; i < intervals; ++i) {
      auto value = divisions->find(std::to_string(1 << i));  // keyed by the interval's start in MiB
      if (value != divisions->end() && value->is_number_integer() && value->get<int64_t>() > 0) {
        rules.roundup_power2_divisions[i] = value->get<uint64_t>();
      }
    }
  }
  return rules;
}

uint64_t AllocatorRules::round_size(uint64_t size) const {
  if (size < min_block_size) return min_block_size;
  int interval = std::clamp(static_cast<int>(std::bit_width(size)) - 1 - first_interval, 0, intervals - 1);
  uint64_t divisions = roundup_power2_divisions[interval];
  if (divisions > 1 && size > min_block_size * divisions) return round_to_division(size, divisions);
  return (size + min_block_size - 1) / min_block_size * min_block_size;
}

bool AllocatorRules::splits(uint64_t block_size, uint64_t size) const {
  uint64_t rest = block_size - size;
  if (size <= small_size || expandable_segments) return rest >= min_block_size;
  return size < max_split_size && rest > small_size;
}

}  // namespace torchmem
