// States of the allocator at any point of a run's trace.

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/replay.h"
#include "torchmem/allocator_state.h"

namespace torchmem {

namespace {

// The trace undone from the end: the segments and the blocks in use before it.
class Undo {
 public:
  Undo(const Run& run, int32_t device, const AllocatorRules& rules) : rules_(rules) {
    for (const Segment& segment : run.segments) {
      if (segment.device != device) continue;
      Segment bare = segment;
      bare.blocks.clear();
      segments_[segment.address] = bare;
      for (const Block& block : segment.blocks) {
        if (block.state != Block::State::inactive) live_[block.address] = block;
      }
    }
  }

  void undo(const Event& event) {
    switch (event.action) {
      case Action::alloc:
        live_.erase(event.address);
        return;
      case Action::free_completed:
        live_[event.address] = {event.address, rules_.round_size(event.size), event.size,
                                Block::State::active_pending_free, no_frames};
        return;
      case Action::free_requested:
        if (auto block = live_.find(event.address); block != live_.end()) {
          block->second.state = Block::State::active_allocated;
        }
        return;
      case Action::segment_alloc:
        segments_.erase(event.address);
        return;
      case Action::segment_map:
        return remove(event);
      case Action::segment_free:
      case Action::segment_unmap:
        return add(event);
      case Action::oom:
      case Action::snapshot:
        return;
    }
  }

  std::vector<Segment> segments() {
    std::vector<Segment> result;
    for (auto& [address, segment] : segments_) {
      fill(segment);
      result.push_back(std::move(segment));
    }
    return result;
  }

 private:
  void add(const Event& event) {
    Segment segment;
    segment.device = event.device;
    segment.address = event.address;
    segment.total_size = event.size;
    segment.stream = event.stream;
    segment.is_large = event.size != 2 << 20;
    segment.is_expandable = event.action == Action::segment_unmap;
    auto added = segments_.insert_or_assign(event.address, segment).first;
    if (!segment.is_expandable) return;
    auto joins = [](const Segment& left, const Segment& right) {
      return left.is_expandable && right.is_expandable && left.stream == right.stream &&
             left.address + left.total_size == right.address;
    };
    if (auto next = std::next(added); next != segments_.end() && joins(added->second, next->second)) {
      added->second.total_size += next->second.total_size;
      segments_.erase(next);
    }
    if (added == segments_.begin()) return;
    if (auto last = std::prev(added); joins(last->second, added->second)) {
      last->second.total_size += added->second.total_size;
      segments_.erase(added);
    }
  }

  void remove(const Event& event) {
    auto found = segments_.upper_bound(event.address);
    if (found == segments_.begin()) return;
    --found;
    Segment segment = found->second;
    uint64_t end = segment.address + segment.total_size;
    if (event.address + event.size > end) return;
    segments_.erase(found);
    if (event.address > segment.address) {
      Segment left = segment;
      left.total_size = event.address - segment.address;
      segments_[left.address] = left;
    }
    if (event.address + event.size < end) {
      Segment right = segment;
      right.address = event.address + event.size;
      right.total_size = end - right.address;
      segments_[right.address] = right;
    }
  }

  // Cuts a segment into its blocks in use and the inactive ones between them.
  void fill(Segment& segment) {
    uint64_t address = segment.address;
    uint64_t end = segment.address + segment.total_size;
    auto inactive_until = [&](uint64_t until) {
      if (until > address)
        segment.blocks.push_back({address, until - address, 0, Block::State::inactive, no_frames});
      address = until;
    };
    for (auto block = live_.lower_bound(segment.address); block != live_.end() && block->first < end;
         ++block) {
      if (block->first < address) continue;
      inactive_until(block->first);
      auto next = std::next(block);
      uint64_t room = (next == live_.end() ? end : std::min(end, next->first)) - block->first;
      Block known = block->second;
      known.size = std::min(known.size, room);
      // A rest too small to be split off belongs to the block.
      if (!rules_.splits(room, known.size)) known.size = room;
      segment.blocks.push_back(known);
      address += known.size;
    }
    inactive_until(end);
  }

  const AllocatorRules& rules_;
  std::map<uint64_t, Segment> segments_;
  std::map<uint64_t, Block> live_;
};

}  // namespace

const std::vector<Event>& trace_of(const Run& run, int32_t device) {
  static const std::vector<Event> nothing;
  auto index = static_cast<size_t>(device);
  return index < run.traces.size() ? run.traces[index] : nothing;
}

AllocatorState state_before_trace(const Run& run, int32_t device) {
  AllocatorRules rules = AllocatorRules::from_settings(run.allocator_settings);
  if (run.is_ours) return AllocatorState(device, rules);
  Undo before(run, device, rules);
  const std::vector<Event>& trace = trace_of(run, device);
  for (auto event = trace.rbegin(); event != trace.rend(); ++event) before.undo(*event);
  return AllocatorState(device, rules, before.segments());
}

AllocatorState state_after(const Run& run, int32_t device, uint64_t events) {
  AllocatorState state = state_before_trace(run, device);
  replay(trace_of(run, device), events, state, [](uint64_t, const AllocatorState&) {});
  return state;
}

uint64_t largest_inactive(const std::vector<Segment>& segments) {
  uint64_t largest = 0;
  for (const Segment& segment : segments) {
    for (const Block& block : segment.blocks) {
      if (block.state == Block::State::inactive) largest = std::max(largest, block.size);
    }
  }
  return largest;
}

void complete_segments(Run& run) {
  if (run.has_segments) return;
  run.segments.clear();
  for (size_t device = 0; device < run.traces.size(); ++device) {
    AllocatorState state = state_after(run, static_cast<int32_t>(device), run.traces[device].size());
    for (Segment& segment : state.segments()) run.segments.push_back(std::move(segment));
  }
}

void complete_block_sizes(Run& run) {
  for (size_t device = 0; device < run.traces.size(); ++device) {
    std::vector<Event>& trace = run.traces[device];
    try {
      AllocatorState state = state_before_trace(run, static_cast<int32_t>(device));
      uint64_t allocated = state.totals().allocated;
      replay(trace, trace.size(), state, [&](uint64_t i, const AllocatorState& after) {
        uint64_t before = std::exchange(allocated, after.totals().allocated);
        if (trace[i].action == Action::alloc) trace[i].block_size = allocated - before;
      });
    } catch (const Error&) {
      continue;
    }
  }
}

}  // namespace torchmem
