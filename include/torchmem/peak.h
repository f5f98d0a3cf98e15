// When a run's memory was highest, and what the memory was made of at that moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "torchmem/allocator_state.h"
#include "torchmem/run.h"

namespace torchmem {

// The allocator's sums right after an event. Bytes.
struct PeakPoint {
  uint64_t event = 0;  // its index in the device's trace
  AllocatorTotals totals;
  uint64_t largest_inactive = 0;  // the largest inactive block
  uint64_t peak_reserved = 0;  // the most that was reserved at any moment of the trace, not only at this one
};

// The first moment of the most allocated bytes in the device's trace; nothing when the trace is empty or does
// not fit together.
std::optional<PeakPoint> find_peak_point(const Run& run, int32_t device);

// The run's peaks. From the phases when there are any (the allocator's own statistics), else from the trace.
struct Peak {
  uint64_t allocated = 0;
  std::optional<uint64_t> reserved;
  std::optional<uint64_t> requested;
  std::optional<uint64_t> device_bytes;  // reserved + context + modules, at most
  // The phase of the allocated peak.
  std::optional<std::string> phase;
  std::optional<int64_t> iteration;
  std::optional<PeakPoint> point;
};

// Of the device; phases are about the run's main one alone. Nothing when nothing was measured.
std::optional<Peak> find_peak(const Run& run, int32_t device);
std::optional<Peak> find_peak(const Run& run);  // of the main device

}  // namespace torchmem
