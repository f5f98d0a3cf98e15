// The caching allocator's segments and blocks, rebuilt from its trace: what a snapshot taken at that moment
// would hold.
//
// The rules are PyTorch's: an allocation takes the front of an inactive block and leaves the rest as one when
// the rest is worth splitting off; a freed block merges with inactive neighbours of its segment; a mapped
// range of an expandable segment joins the ranges it touches. (Read in PyTorch 2.11's
// c10/core/AllocatorConfig.h and in traces.)
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// How sizes are rounded and blocks split: needed where a trace does not say how large a block was.
struct AllocatorRules {
  uint64_t max_split_size = UINT64_MAX;
  bool expandable_segments = false;
  // For sizes from 1 MiB (and less) in steps of a power of two; 0 or 1 = no rounding to divisions.
  uint64_t roundup_power2_divisions[16] = {};

  // From a snapshot's allocator_settings; what is missing or odd there keeps its default.
  static AllocatorRules from_settings(const nlohmann::json& settings);
  // What a request of `size` bytes is rounded to: a multiple of 512, at least 512.
  uint64_t round_size(uint64_t size) const;
  // Whether a free block of `block_size` is split for a rounded request of `size`.
  bool splits(uint64_t block_size, uint64_t size) const;
};

// Sums over all segments, in bytes. reserved = active + inactive; inactive_split counts inactive blocks that
// share a segment which is not expandable with others.
struct AllocatorTotals {
  uint64_t allocated = 0;
  uint64_t active = 0;
  uint64_t requested = 0;
  uint64_t reserved = 0;
  uint64_t inactive_split = 0;
};

class AllocatorState {
 public:
  // An allocator that holds nothing.
  AllocatorState(int32_t device, const AllocatorRules& rules) : device_(device), rules_(rules) {}
  // One that holds these segments.
  AllocatorState(int32_t device, const AllocatorRules& rules, const std::vector<Segment>& segments);

  // Throws Error(bad_input) when the event cannot follow this state, e.g. in a trace whose start was
  // overwritten.
  void apply(const Event& event);

  const AllocatorTotals& totals() const { return totals_; }
  // By address, complete with sums, as in a snapshot.
  std::vector<Segment> segments() const;

 private:
  struct Piece {
    uint64_t size = 0;
    uint64_t requested_size = 0;
    Block::State state = Block::State::inactive;
    int32_t frames = no_frames;
  };
  using Pieces = std::map<uint64_t, Piece>;
  struct Range {
    uint64_t size = 0;
    uint64_t stream = 0;
    bool is_large = false;
    bool is_expandable = false;
    uint64_t pool_id[2] = {0, 0};
    int32_t frames = no_frames;
    Pieces pieces;
  };
  using Ranges = std::map<uint64_t, Range>;

  Ranges::iterator range_of(const Event& event);
  void add_segment(const Event& event, bool is_expandable);
  void free_segment(const Event& event);
  void unmap(const Event& event);
  void allocate(const Event& event);
  void request_free(const Event& event);
  void complete_free(const Event& event);
  // Makes the piece inactive and one with its inactive neighbours; it keeps its own stale requested size, as
  // PyTorch's blocks do. Returns the size of what it became.
  uint64_t become_inactive(Range& range, Pieces::iterator piece);
  uint64_t inactive_split(const Range& range) const;
  [[noreturn]] void refuse(const Event& event, const char* why) const;

  int32_t device_;
  AllocatorRules rules_;
  AllocatorTotals totals_;
  Ranges ranges_;
};

// The state before the first event of the device's trace: empty for our own runs; for a snapshot whose
// recording began late, what must have been there already, told by undoing the trace from the final segments.
AllocatorState state_before_trace(const Run& run, int32_t device);

// The state after the first `events` events of the device's trace.
AllocatorState state_after(const Run& run, int32_t device, uint64_t events);

// The size of the largest inactive block; 0 when there is none.
uint64_t largest_inactive(const std::vector<Segment>& segments);

// When the process ended before it could say, its segments are those that the trace leaves. Does nothing
// otherwise.
void complete_segments(Run& run);

// Fills in the block sizes that the recorder left to the allocator's rules. Where a trace does not fit
// together they stay unknown from there on.
void complete_block_sizes(Run& run);

}  // namespace torchmem
