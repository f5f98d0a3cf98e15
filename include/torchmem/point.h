// Where in a run a snapshot or a breakdown is of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "torchmem/block_history.h"
#include "torchmem/run.h"

namespace torchmem {

// A point by what people call it: "peak", "reserved-peak", "end", a phase's end "forward:1" or
// "forward:1.0" (iteration, micro-batch), "load". Throws Error(bad_usage) naming the phases there are.
struct Point {
  std::string name;     // as asked for
  uint64_t events = 0;  // how many of the device's events had happened
  // The phase under way (of "peak") or just ended.
  std::optional<std::string> phase;
  std::optional<int64_t> iteration;
};
Point find_point(const Run& run, const BlockHistory& history, int32_t device, std::string_view name);

}  // namespace torchmem
