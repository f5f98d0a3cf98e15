// Whose the bytes are, at any moment of a run.
//
// The invariant behind all of it: at every moment, the sizes of the blocks that are alive add up to what the
// allocator counts as allocated, and every block has exactly one category, one op, one module and one line
// (each perhaps unknown). Sizes are block sizes in bytes: rounding and rests that were not split off are in
// them, and told apart by `requested`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchmem/allocator_state.h"
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
  // Owners: indices into the ledger's tables; 0 is the unknown one, named "".
  // An activation's are those of the op that saved it, every other block's those of the op that made it; a
  // backward node's module and line are the forward op's.
  uint32_t op = 0;
  uint32_t module = 0;
  uint32_t line = 0;

  bool alive_after(uint64_t events) const {
    return (born == no_event || born < events) && (freed == no_event || freed >= events);
  }
};

// The parts of a stack that own bytes.
struct Owner {
  std::string op;  // the outermost operator ("aten::conv2d"), or the autograd node ("ConvolutionBackward0")
  std::string module;  // dotted path from the root, "" for the root itself or where unknown
  std::string module_type;
  std::string line;  // "file:line", the innermost frame that is not PyTorch's own; of a thread that only runs
                     // backward, "(backward)" with the autograd node's name, if that is known
};
Owner owner_of(const std::vector<Frame>& stack);

class Ledger {
 public:
  // Throws Error(bad_input) when the trace does not fit together.
  Ledger(const Run& run, int32_t device);

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

// A moment by what people call it: "peak", "reserved-peak", "end", a phase's end "forward:1" or
// "forward:1.0" (iteration, micro-batch), "load". Throws Error(bad_usage) naming the phases there are.
struct Moment {
  std::string name;     // as asked for
  uint64_t events = 0;  // how many of the device's events had happened
  // The phase under way (of "peak") or just ended.
  std::optional<std::string> phase;
  std::optional<int64_t> iteration;
};
Moment find_moment(const Run& run, const Ledger& ledger, int32_t device, std::string_view name);

// What owners have in common at one moment.
struct Share {
  std::string name;
  uint64_t bytes = 0;      // of blocks
  uint64_t requested = 0;  // asked for within them
  uint64_t blocks = 0;
};

struct ModuleShare {
  std::string path;  // "" is the root
  std::string type;
  uint64_t own = 0;                                    // bytes of blocks whose module it is
  uint64_t inclusive = 0;                              // with those of the modules below it
  uint64_t blocks = 0;                                 // own
  std::array<uint64_t, category_count> by_category{};  // of inclusive
  std::vector<ModuleShare> children;                   // largest first
};

struct SegmentShare {
  Segment segment;        // as at that moment
  uint64_t inactive = 0;  // bytes
  uint64_t largest_inactive = 0;
  std::vector<const BlockLife*> holders;  // the blocks that keep it from being released, largest first
};

// Everything about one moment. Lists are by bytes, largest first, then by name.
struct Breakdown {
  Moment moment;
  AllocatorTotals totals;
  std::array<Share, category_count> categories;  // in the order of Category; they add up to totals.allocated
  ModuleShare root;                              // inclusive == totals.allocated
  std::vector<Share> ops;
  std::vector<Share> lines;
  std::vector<const BlockLife*> tensors;  // every block alive, largest first
  std::vector<SegmentShare> segments;     // by inactive bytes
  uint64_t largest_inactive = 0;          // what would have fitted without a new segment
};
// The pointers are into `ledger`.
Breakdown break_down(const Run& run, const Ledger& ledger, int32_t device, const Moment& moment);

// Bytes that an iteration left behind: alive at its end and born in it, in every iteration but the first,
// each time as many; by owner. What only the first iteration leaves (optimizer state, workspaces) is no
// growth.
struct Growth {
  uint64_t bytes_per_iteration = 0;
  int64_t first_iteration = 0;  // the first one that grew
  std::string phase;            // in which most of it was born
  std::vector<Share> categories;
  std::vector<Share> ops;
  std::vector<Share> modules;
  std::vector<Share> lines;
  std::vector<const BlockLife*> blocks;  // that the last iteration left
};
// Nothing when no iteration but the first leaves more than the one before it did, or there are fewer than
// two.
std::optional<Growth> find_growth(const Run& run, const Ledger& ledger, int32_t device);

}  // namespace torchmem
