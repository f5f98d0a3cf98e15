#include "torchmem/peak.h"

#include <algorithm>

#include "analyze/phase_time.h"
#include "analyze/replay.h"

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
  if (!last.device_bytes || !last.reserved || *last.device_bytes < last.reserved->current)
    return std::nullopt;
  return *last.device_bytes - last.reserved->current;
}

}  // namespace

std::optional<PeakPoint> find_peak_point(const Run& run, int32_t device) {
  const std::vector<Event>& trace = trace_of(run, device);
  if (trace.empty()) return std::nullopt;
  try {
    AllocatorState state = state_before_trace(run, device);
    Highest highest(state.totals());
    replay(trace, trace.size(), state,
           [&](uint64_t i, const AllocatorState& after) { highest.see(i + 1, after.totals()); });
    PeakPoint peak;
    peak.totals = highest.at_allocated();
    peak.peak_reserved = highest.at_reserved().reserved;
    uint64_t events = highest.allocated_events();
    peak.event = events == 0 ? 0 : events - 1;
    peak.largest_inactive = largest_inactive(state_after(run, device, events).segments());
    return peak;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<Peak> find_peak(const Run& run, int32_t device) {
  Peak peak;
  bool is_main = device == run.main_device();
  peak.point = find_peak_point(run, device);
  bool has_phases = is_main && peak_of_phases(run, peak);
  if (!peak.point) return has_phases ? std::optional(peak) : std::nullopt;
  // A run that died within a phase peaked perhaps there, after the last phase that has statistics.
  if (!has_phases || peak.point->totals.allocated > peak.allocated) {
    peak.allocated = peak.point->totals.allocated;
    const Phase* phase = phase_at(run, device, peak.point->event);
    peak.phase = phase ? std::optional(phase->name) : run.error ? run.error->phase : std::nullopt;
    peak.iteration = phase ? phase->iteration : run.error ? run.error->iteration : std::nullopt;
  }
  if (peak.point->peak_reserved > peak.reserved.value_or(0)) {
    peak.reserved = peak.point->peak_reserved;
    if (std::optional<uint64_t> outside = bytes_outside(run); outside && is_main)
      raise(peak.device_bytes, *outside + *peak.reserved);
  }
  return peak;
}

std::optional<Peak> find_peak(const Run& run) { return find_peak(run, run.main_device()); }

}  // namespace torchmem
