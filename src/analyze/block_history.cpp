#include "torchmem/block_history.h"

#include <unordered_map>
#include <utility>

#include "analyze/replay.h"
#include "torchmem/owner.h"

namespace torchmem {

namespace {

// Names and their indices; 0 is "".
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) { index(""); }

  uint32_t index(const std::string& name) {
    auto [known, is_new] = indices_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return known->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t> indices_;
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::bad_input, "the trace does not fit together: " + why);
}

struct OwnerIndices {
  uint32_t op = 0;
  uint32_t module = 0;
  uint32_t line = 0;
};

}  // namespace

// Fills a history's tables, each stack's owners once.
class BlockHistory::Owners {
 public:
  Owners(const Run& run, BlockHistory& history)
      : run_(run),
        types_(history.module_types_),
        ops_(history.ops_),
        modules_(history.modules_),
        lines_(history.lines_),
        of_stack_(run.stacks.size()) {
    types_.emplace_back();
  }

  void set(BlockLife& block, int32_t stack) {
    if (stack == no_frames) return;
    std::optional<OwnerIndices>& known = of_stack_[static_cast<size_t>(stack)];
    if (!known) known = intern(owner_of(run_.stacks[static_cast<size_t>(stack)]));
    block.op = known->op;
    block.module = known->module;
    block.line = known->line;
  }

 private:
  OwnerIndices intern(const Owner& owner) {
    OwnerIndices indices{ops_.index(owner.op), modules_.index(owner.module), lines_.index(owner.line)};
    if (indices.module >= types_.size()) types_.resize(indices.module + 1);
    if (types_[indices.module].empty()) types_[indices.module] = owner.module_type;
    return indices;
  }

  const Run& run_;
  std::vector<std::string>& types_;
  Names ops_;
  Names modules_;
  Names lines_;
  std::vector<std::optional<OwnerIndices>> of_stack_;
};

BlockHistory::BlockHistory(const Run& run, int32_t device) {
  Owners owners(run, *this);
  std::unordered_map<uint64_t, size_t> alive;  // by address
  AllocatorState state = state_before_trace(run, device);
  uint64_t allocated = 0;
  for (const Segment& segment : state.segments()) {
    for (const Block& old : segment.blocks) {
      if (old.state != Block::State::active_allocated) continue;
      BlockLife block;
      block.address = old.address;
      block.size = old.size;
      block.requested = old.requested_size;
      block.frames = old.frames;
      owners.set(block, block.frames);
      allocated += block.size;
      alive[block.address] = blocks_.size();
      blocks_.push_back(block);
    }
  }

  if (allocated != state.totals().allocated) refuse("blocks lie over one another");

  const std::vector<Event>& trace = trace_of(run, device);
  events_ = trace.size();
  Highest highest(state.totals());
  // The allocator decides how large a block is and when it stops counting; the history only follows its sum.
  replay(trace, trace.size(), state, [&](uint64_t i, const AllocatorState& after) {
    uint64_t before = std::exchange(allocated, after.totals().allocated);
    highest.see(i + 1, after.totals());
    const Event& event = trace[i];
    if (allocated > before) {
      BlockLife block;
      block.address = event.address;
      block.size = allocated - before;
      block.requested = event.size;
      block.born = i;
      block.category = event.category;
      block.tensor = event.tensor;
      block.frames = event.frames;
      bool is_saved = event.category == Category::activations && event.saved_by != no_frames;
      owners.set(block, is_saved ? event.saved_by : event.frames);
      alive[block.address] = blocks_.size();
      blocks_.push_back(block);
    } else if (allocated < before) {
      auto found = alive.find(event.address);
      if (found == alive.end()) refuse("a block is freed that was never there");
      blocks_[found->second].freed = i;
      alive.erase(found);
    }
  });
  peak_events_ = highest.allocated_events();
  reserved_peak_events_ = highest.reserved_events();
}

}  // namespace torchmem
