// The allocator's states along a trace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "torchmem/allocator_state.h"

namespace torchmem {

// Empty for a device that has none.
const std::vector<Event>& trace_of(const Run& run, int32_t device);

// Applies the first `events` of the trace to `state` and calls after(index, state) once each is applied.
// Throws Error(bad_input) where the trace does not fit together.
template <class After>
void replay(const std::vector<Event>& trace, uint64_t events, AllocatorState& state, After after) {
  uint64_t count = std::min<uint64_t>(events, trace.size());
  for (uint64_t i = 0; i < count; ++i) {
    state.apply(trace[i]);
    after(i, state);
  }
}

// Allocated and reserved where each was first at its highest, as a trace is replayed from `start` on.
class Highest {
 public:
  explicit Highest(const AllocatorTotals& start) : allocated_(start), reserved_(start) {}

  // The totals once that many events had happened.
  void see(uint64_t events, const AllocatorTotals& totals) {
    if (totals.allocated > allocated_.allocated) {
      allocated_ = totals;
      allocated_events_ = events;
    }
    if (totals.reserved > reserved_.reserved) {
      reserved_ = totals;
      reserved_events_ = events;
    }
  }

  const AllocatorTotals& at_allocated() const { return allocated_; }
  const AllocatorTotals& at_reserved() const { return reserved_; }
  uint64_t allocated_events() const { return allocated_events_; }
  uint64_t reserved_events() const { return reserved_events_; }

 private:
  AllocatorTotals allocated_;
  AllocatorTotals reserved_;
  uint64_t allocated_events_ = 0;
  uint64_t reserved_events_ = 0;
};

}  // namespace torchmem
