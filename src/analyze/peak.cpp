#include "torchmem/peak.h"

#include <algorithm>

namespace torchmem {

namespace {

void raise(std::optional<uint64_t>& most, uint64_t value) { most = std::max(most.value_or(0), value); }

// What the phases say; false when no phase has statistics.
bool peak_of_phases(const Run& run, Peak& peak) {
  bool found = false;
  for (const Phase& phase : run.phases) {
    if (!phase.allocated) continue;
    if (!found || phase.allocated->peak > peak.allocated) {
      peak.allocated = phase.allocated->peak;
      peak.phase = phase.name;
      peak.iteration = phase.iteration;
    }
    found = true;
    if (phase.requested) raise(peak.requested, phase.requested->peak);
    if (!phase.reserved) continue;
    raise(peak.reserved, phase.reserved->peak);
    if (phase.device_bytes && *phase.device_bytes >= phase.reserved->current) {
      raise(peak.device_bytes, *phase.device_bytes - phase.reserved->current + phase.reserved->peak);
    }
  }
  return found;
}

// What the device held besides the allocator's segments when the last phase ended: context and modules.
std::optional<uint64_t> bytes_outside(const Run& run) {
  if (run.phases.empty()) return std::nullopt;
  const Phase& last = run.phases.back();
  if (!last.device_bytes || !last.reserved || *last.device_bytes < last.reserved->current) return std::nullopt;
  return *last.device_bytes - last.reserved->current;
}

// The phase that was under way as the event of that index happened: the first that ended after it.
const Phase* phase_at(const Run& run, int32_t device, uint64_t event) {
  for (const Phase& phase : run.phases) {
    auto index = static_cast<size_t>(device);
    if (index < phase.events.size() && phase.events[index] > event) return &phase;
  }
  return nullptr;
}

}  // namespace

std::optional<PeakMoment> find_peak_moment(const Run& run, int32_t device) {
  auto index = static_cast<size_t>(device);
  if (index >= run.traces.size() || run.traces[index].empty()) return std::nullopt;
  const std::vector<Event>& trace = run.traces[index];
  try {
    AllocatorState state = state_before_trace(run, device);
    PeakMoment peak;
    peak.totals = state.totals();
    peak.peak_reserved = state.totals().reserved;
    uint64_t events = 0;
    for (uint64_t i = 0; i < trace.size(); ++i) {
      state.apply(trace[i]);
      peak.peak_reserved = std::max(peak.peak_reserved, state.totals().reserved);
      if (state.totals().allocated > peak.totals.allocated) {
        peak.totals = state.totals();
        peak.event = i;
        events = i + 1;
      }
    }
    for (const Segment& segment : state_after(run, device, events).segments()) {
      for (const Block& block : segment.blocks) {
        if (block.state == Block::State::inactive)
          peak.largest_inactive = std::max(peak.largest_inactive, block.size);
      }
    }
    return peak;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Peak> find_peak(const Run& run) {
  Peak peak;
  int32_t device = run.main_device();
  peak.moment = find_peak_moment(run, device);
  bool has_phases = peak_of_phases(run, peak);
  if (!peak.moment) return has_phases ? std::optional(peak) : std::nullopt;
  // A run that died within a phase peaked perhaps there, after the last phase that has statistics.
  if (!has_phases || peak.moment->totals.allocated > peak.allocated) {
    peak.allocated = peak.moment->totals.allocated;
    const Phase* phase = phase_at(run, device, peak.moment->event);
    peak.phase = phase ? std::optional(phase->name) : run.error ? run.error->phase : std::nullopt;
    peak.iteration = phase ? phase->iteration : run.error ? run.error->iteration : std::nullopt;
  }
  if (peak.moment->peak_reserved > peak.reserved.value_or(0)) {
    peak.reserved = peak.moment->peak_reserved;
    if (std::optional<uint64_t> outside = bytes_outside(run)) raise(peak.device_bytes, *outside + *peak.reserved);
  }
  return peak;
}

}  // namespace torchmem
