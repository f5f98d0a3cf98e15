#include "torchmem/allocator_state.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace torchmem {

namespace {

constexpr uint64_t small_segment = 2 << 20;
constexpr uint64_t small_size = 1 << 20;

using State = Block::State;

}  // namespace

AllocatorState::AllocatorState(int32_t device, const AllocatorRules& rules,
                               const std::vector<Segment>& segments)
    : device_(device), rules_(rules) {
  for (const Segment& segment : segments) {
    if (segment.device != device) continue;
    Range& range = ranges_[segment.address];
    range.size = segment.total_size;
    range.stream = segment.stream;
    range.is_large = segment.is_large;
    range.is_expandable = segment.is_expandable;
    std::copy(std::begin(segment.pool_id), std::end(segment.pool_id), std::begin(range.pool_id));
    range.frames = segment.frames;
    for (const Block& block : segment.blocks) {
      range.pieces[block.address] = {block.size, block.requested_size, block.state, block.frames};
      if (block.state == State::active_allocated) totals_.allocated += block.size;
      if (block.state != State::inactive) {
        totals_.active += block.size;
        totals_.requested += block.requested_size;
      }
    }
    totals_.reserved += range.size;
    totals_.inactive_split += inactive_split(range);
  }
}

void AllocatorState::refuse(const Event& event, const char* why) const {
  throw Error(ErrorKind::bad_input,
              fmt::format("the trace does not fit together: {} of {} B at address {}, but {}",
                          name_of(event.action), event.size, event.address, why));
}

void AllocatorState::apply(const Event& event) {
  switch (event.action) {
    case Action::alloc:
      return allocate(event);
    case Action::free_requested:
      return request_free(event);
    case Action::free_completed:
      return complete_free(event);
    case Action::segment_alloc:
      return add_segment(event, false);
    case Action::segment_map:
      return add_segment(event, true);
    case Action::segment_free:
      return free_segment(event);
    case Action::segment_unmap:
      return unmap(event);
    case Action::oom:
    case Action::snapshot:
      return;
  }
}

AllocatorState::Ranges::iterator AllocatorState::range_of(const Event& event) {
  auto range = ranges_.upper_bound(event.address);
  if (range == ranges_.begin()) refuse(event, "no segment is there");
  --range;
  if (event.address - range->first >= range->second.size) refuse(event, "no segment is there");
  return range;
}

// What an inactive block may cost in inactive_split: one that shares its segment.
uint64_t AllocatorState::inactive_split(const Range& range) const {
  if (range.is_expandable || range.pieces.size() < 2) return 0;
  uint64_t sum = 0;
  for (const auto& [address, piece] : range.pieces) {
    if (piece.state == State::inactive) sum += piece.size;
  }
  return sum;
}

void AllocatorState::add_segment(const Event& event, bool is_expandable) {
  if (event.size == 0) return;
  auto next = ranges_.lower_bound(event.address);
  if (next != ranges_.end() && next->first - event.address < event.size)
    refuse(event, "a segment is there already");
  if (next != ranges_.begin()) {
    auto last = std::prev(next);
    if (event.address - last->first < last->second.size) refuse(event, "a segment is there already");
  }
  Range range;
  range.size = event.size;
  range.stream = event.stream;
  range.is_large = event.size != small_segment;
  range.is_expandable = is_expandable;
  range.frames = event.frames;
  range.pieces[event.address] = {event.size, 0, State::inactive, no_frames};
  totals_.reserved += event.size;
  auto added = ranges_.emplace(event.address, std::move(range)).first;
  if (!is_expandable) return;

  // Contiguous mapped ranges are one segment.
  auto joins = [](Ranges::iterator left, Ranges::iterator right) {
    return left->second.is_expandable && right->second.is_expandable &&
           left->second.stream == right->second.stream && left->first + left->second.size == right->first;
  };
  auto take = [&](Ranges::iterator left, Ranges::iterator right) {
    left->second.size += right->second.size;
    left->second.pieces.merge(right->second.pieces);
    ranges_.erase(right);
  };
  auto after = std::next(added);
  if (after != ranges_.end() && joins(added, after)) {
    added->second.is_large = after->second.is_large;
    take(added, after);
  }
  if (added != ranges_.begin()) {
    auto before = std::prev(added);
    if (joins(before, added)) {
      take(before, added);
      added = before;
    }
  }
  become_inactive(added->second, added->second.pieces.find(event.address));
}

void AllocatorState::free_segment(const Event& event) {
  auto range = range_of(event);
  if (range->first != event.address) refuse(event, "its segment starts elsewhere");
  if (range->second.pieces.size() != 1 || range->second.pieces.begin()->second.state != State::inactive) {
    refuse(event, "a block in it is in use");
  }
  totals_.reserved -= range->second.size;
  ranges_.erase(range);
}

void AllocatorState::unmap(const Event& event) {
  if (event.size == 0) return;
  auto found = range_of(event);
  uint64_t start = found->first;
  Range range = std::move(found->second);
  auto piece = std::prev(range.pieces.upper_bound(event.address));
  uint64_t before = event.address - piece->first;
  if (piece->second.state != State::inactive || before > piece->second.size ||
      event.size > piece->second.size - before) {
    found->second = std::move(range);
    refuse(event, "a block in it is in use");
  }
  uint64_t end = event.address + event.size;
  uint64_t after = piece->second.size - before - event.size;
  ranges_.erase(found);
  totals_.reserved -= event.size;

  Range right = range;  // the same pool and stream
  right.pieces.clear();
  auto next = std::next(piece);
  while (next != range.pieces.end()) right.pieces.insert(range.pieces.extract(next++));
  uint64_t right_size = start + range.size - end;
  if (after > 0) right.pieces[end] = {after, 0, State::inactive, no_frames};
  if (before > 0) {
    piece->second = {before, 0, State::inactive, no_frames};
  } else {
    range.pieces.erase(piece);
  }
  range.size = event.address - start;
  right.size = right_size;
  if (range.size > 0) ranges_.emplace(start, std::move(range));
  if (right.size > 0) ranges_.emplace(end, std::move(right));
}

void AllocatorState::allocate(const Event& event) {
  if (event.size == 0) return;  // never reaches the allocator
  Range& range = range_of(event)->second;
  auto piece = range.pieces.find(event.address);
  if (piece == range.pieces.end()) refuse(event, "no block starts there");
  if (piece->second.state != State::inactive) refuse(event, "that block is in use");
  uint64_t available = piece->second.size;
  uint64_t size = event.block_size;
  if (size == 0) {
    size = rules_.round_size(event.size);
    if (size <= available && !rules_.splits(available, size)) size = available;
  }
  if (size > available) refuse(event, "that block is smaller");
  bool counts_split = !range.is_expandable;
  if (counts_split && range.pieces.size() > 1) totals_.inactive_split -= available;
  if (size < available) {
    range.pieces[event.address + size] = {available - size, piece->second.requested_size, State::inactive,
                                          no_frames};
    if (counts_split) totals_.inactive_split += available - size;
  }
  piece->second = {size, event.size, State::active_allocated, event.frames};
  range.is_large = rules_.round_size(event.size) > small_size;
  totals_.allocated += size;
  totals_.active += size;
  totals_.requested += event.size;
}

void AllocatorState::request_free(const Event& event) {
  Range& range = range_of(event)->second;
  auto piece = range.pieces.find(event.address);
  if (piece == range.pieces.end() || piece->second.state != State::active_allocated) {
    refuse(event, "no block in use starts there");
  }
  piece->second.state = State::active_pending_free;
  totals_.allocated -= piece->second.size;
}

void AllocatorState::complete_free(const Event& event) {
  Range& range = range_of(event)->second;
  auto piece = range.pieces.find(event.address);
  if (piece == range.pieces.end() || piece->second.state == State::inactive) {
    refuse(event, "no block in use starts there");
  }
  // A recorder may leave free_requested out.
  if (piece->second.state == State::active_allocated) totals_.allocated -= piece->second.size;
  totals_.active -= piece->second.size;
  totals_.requested -= piece->second.requested_size;
  uint64_t freed = piece->second.size;
  uint64_t merged = become_inactive(range, piece);
  if (range.is_expandable) return;
  totals_.inactive_split -= merged - freed;  // the neighbours counted already
  if (range.pieces.size() > 1) totals_.inactive_split += merged;
}

uint64_t AllocatorState::become_inactive(Range& range, Pieces::iterator piece) {
  Piece merged{piece->second.size, piece->second.requested_size, State::inactive, no_frames};
  uint64_t address = piece->first;
  auto next = std::next(piece);
  if (next != range.pieces.end() && next->second.state == State::inactive) {
    merged.size += next->second.size;
    range.pieces.erase(next);
  }
  if (piece != range.pieces.begin()) {
    auto before = std::prev(piece);
    if (before->second.state == State::inactive) {
      merged.size += before->second.size;
      address = before->first;
      range.pieces.erase(before);
    }
  }
  range.pieces.erase(piece);
  range.pieces[address] = merged;
  return merged.size;
}

std::vector<Segment> AllocatorState::segments() const {
  std::vector<Segment> result;
  for (const auto& [start, range] : ranges_) {
    Segment segment;
    segment.device = device_;
    segment.address = start;
    segment.total_size = range.size;
    segment.stream = range.stream;
    segment.is_large = range.is_large;
    segment.is_expandable = range.is_expandable;
    std::copy(std::begin(range.pool_id), std::end(range.pool_id), std::begin(segment.pool_id));
    segment.frames = range.frames;
    for (const auto& [address, piece] : range.pieces) {
      segment.blocks.push_back({address, piece.size, piece.requested_size, piece.state, piece.frames});
      if (piece.state == State::active_allocated) segment.allocated_size += piece.size;
      if (piece.state != State::inactive) {
        segment.active_size += piece.size;
        segment.requested_size += piece.requested_size;
      }
    }
    result.push_back(std::move(segment));
  }
  return result;
}

}  // namespace torchmem
