#include "torchmem/point.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "analyze/phase_time.h"
#include "text/words.h"
#include "torchmem/block_history.h"

namespace torchmem {

namespace {

constexpr std::string_view peak_name = "peak";
constexpr std::string_view reserved_peak_name = "reserved-peak";
constexpr std::string_view end_name = "end";

// "load, input:0 to input:2, forward:0.0 to forward:2.1".
std::string phases_there_are(const Run& run) {
  struct Range {
    std::string_view phase;
    std::string first;
    std::string last;
  };
  std::vector<Range> ranges;
  for (const Phase& phase : run.phases) {
    auto same = std::find_if(ranges.begin(), ranges.end(),
                             [&](const Range& range) { return range.phase == phase.name; });
    std::string name = name_of_phase(phase, true);
    if (same == ranges.end()) {
      ranges.push_back({phase.name, name, name});
    } else {
      same->last = name;
    }
  }
  std::vector<std::string> texts;
  for (const Range& range : ranges)
    texts.push_back(range.first + (range.last == range.first ? "" : " to " + range.last));
  return joined(texts);
}

// The last of those that have the name: a phase without its micro-batch means the iteration's last.
const Phase* find_phase(const Run& run, std::string_view name) {
  const Phase* found = nullptr;
  for (const Phase& phase : run.phases) {
    if (name_of_phase(phase, true) == name || name_of_phase(phase, false) == name) found = &phase;
  }
  return found;
}

// With the phase under way as the last of those events happened.
Point within_phase(const Run& run, int32_t device, std::string_view name, uint64_t events) {
  Point point{std::string(name), events, {}, {}};
  const Phase* phase = phase_at(run, device, events == 0 ? 0 : events - 1);
  if (phase) {
    point.phase = phase->name;
    point.iteration = phase->iteration;
  } else if (run.error) {
    point.phase = run.error->phase;
    point.iteration = run.error->iteration;
  }
  return point;
}

}  // namespace

Point find_point(const Run& run, const BlockHistory& history, int32_t device, std::string_view name) {
  if (name == peak_name) return within_phase(run, device, name, history.peak_events());
  if (name == reserved_peak_name) return within_phase(run, device, name, history.reserved_peak_events());
  if (name == end_name) return within_phase(run, device, name, history.events());
  if (const Phase* phase = find_phase(run, name)) {
    uint64_t events = std::min(events_at_end(*phase, device), history.events());
    return {std::string(name), events, phase->name, phase->iteration};
  }
  std::string phases =
      run.phases.empty() ? "; it has no phases" : ", or a phase's end: " + phases_there_are(run);
  if (run.phases.empty() && !run.is_ours) phases += ", as no snapshot that PyTorch itself dumped has";
  throw Error(ErrorKind::bad_usage, fmt::format("there is no moment '{}' in this run. Expected {}, {}, {}{}",
                                                name, peak_name, reserved_peak_name, end_name, phases));
}

}  // namespace torchmem
