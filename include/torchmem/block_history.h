// When each block was allocated and freed, and whose it was.
//
// The invariant behind all of it: at every point, the sizes of the blocks that are alive add up to what the
// allocator counts as allocated, and every block has exactly one category, one op, one module and one line
// (each perhaps unknown). Sizes are block sizes in bytes: rounding and rests that were not split off are in
// them, and told apart by `requested`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

constexpr uint64_t no_event = UINT64_MAX;

// One block from its allocation to the moment that it no longer counts as allocated (free_requested, or
// free_completed where the recorder left that out).
struct BlockLife {
  uint64_t address = 0;
  uint64_t size = 0;          // of the block
  uint64_t requested = 0;     // that PyTorch asked for
  uint64_t born = no_event;   // index in the device's trace; no_event: older than the trace
  uint64_t freed = no_event;  // no_event: alive at the end
  Category category = Category::other;
  int32_t tensor = no_tensor;
  int32_t frames = no_frames;  // where it was made
  // Owners: indices into the history's tables; 0 is the unknown one, named "".
  // An activation's are those of the op that saved it, every other block's those of the op that made it; a
  // backward node's module and line are the forward op's.
  uint32_t op = 0;
  uint32_t module = 0;
  uint32_t line = 0;

  bool alive_after(uint64_t events) const {
    return (born == no_event || born < events) && (freed == no_event || freed >= events);
  }
};

class BlockHistory {
 public:
  // Throws Error(bad_input) when the trace does not fit together.
  BlockHistory(const Run& run, int32_t device);

  // In order of birth, those older than the trace first.
  const std::vector<BlockLife>& blocks() const { return blocks_; }
  const std::vector<std::string>& ops() const { return ops_; }
  const std::vector<std::string>& modules() const { return modules_; }            // paths
  const std::vector<std::string>& module_types() const { return module_types_; }  // of `modules`, "" unknown
  const std::vector<std::string>& lines() const { return lines_; }
  uint64_t events() const { return events_; }
  // The number of events after which allocated (reserved) was first at its highest.
  uint64_t peak_events() const { return peak_events_; }
  uint64_t reserved_peak_events() const { return reserved_peak_events_; }

 private:
  class Owners;

  std::vector<BlockLife> blocks_;
  std::vector<std::string> ops_;
  std::vector<std::string> modules_;
  std::vector<std::string> module_types_;
  std::vector<std::string> lines_;
  uint64_t events_ = 0;
  uint64_t peak_events_ = 0;
  uint64_t reserved_peak_events_ = 0;
};

}  // namespace torchmem
