// What the allocator held at the peak of reserved, and why.

#include <algorithm>

#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/point.h"
#include "torchmem/run_result.h"

namespace torchmem {

namespace {

constexpr size_t most_segments = 5;

std::string pool_of(const Segment& segment) {
  return std::string(segment.is_expandable ? "expandable " : "") +
         (segment.is_large ? "large pool" : "small pool");
}

std::string text_of(const Run& run, const BlockHistory& history, const BlockLife& block) {
  std::string text(name_of(block.category));
  if (block.tensor != no_tensor) {
    const std::string& name = run.tensors[static_cast<size_t>(block.tensor)].name;
    if (!name.empty()) text += " " + name;
  }
  for (const std::string* part :
       {&history.ops()[block.op], &history.modules()[block.module], &history.lines()[block.line]}) {
    if (!part->empty()) text += ", " + *part;
  }
  return text;
}

HeldSegment held(const Run& run, const BlockHistory& history, const SegmentUsage& share) {
  HeldSegment result{.pool = pool_of(share.segment),
                     .bytes = share.segment.total_size,
                     .free = share.inactive,
                     .blocks = share.holders.size(),
                     .largest_bytes = 0,
                     .largest = ""};
  if (share.holders.empty()) return result;
  result.largest_bytes = share.holders.front()->size;
  result.largest = text_of(run, history, *share.holders.front());
  return result;
}

}  // namespace

std::optional<ReservedPeak> reserved_peak_of(const Run& run) {
  int32_t device = run.main_device();
  if (!run.devices().contains(device)) return std::nullopt;
  try {
    BlockHistory history(run, device);
    if (history.events() == 0) return std::nullopt;
    Breakdown at = break_down(run, history, device, find_point(run, history, device, "reserved-peak"));
    ReservedPeak peak;
    for (const UsageEntry& share : at.categories) {
      if (share.bytes > 0) peak.uses[share.name] = share.bytes;
    }
    peak.uses["free in segments"] = at.totals.reserved - at.totals.active;
    if (at.totals.active > at.totals.allocated)
      peak.uses["freed, in use by a stream"] = at.totals.active - at.totals.allocated;
    for (const SegmentUsage& share : at.segments) {
      peak.pools[pool_of(share.segment)] += share.segment.total_size;
      if (share.inactive > 0 && peak.segments.size() < most_segments)
        peak.segments.push_back(held(run, history, share));
    }
    return peak;
  } catch (const Error&) {
    return std::nullopt;  // a trace that does not fit together
  }
}

}  // namespace torchmem
