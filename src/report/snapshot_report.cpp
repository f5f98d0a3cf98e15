#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/breakdown_json.h"
#include "report/breakdown_text.h"
#include "report/style.h"
#include "report/text.h"
#include "torchmem/bytes.h"
#include "torchmem/peak.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

// The end of one device's trace.
struct End {
  uint64_t segments = 0;
  uint64_t reserved = 0;
  uint64_t allocated = 0;
  uint64_t active = 0;
  uint64_t requested = 0;
  uint64_t largest_inactive = 0;
};

End end_of(const Run& run, int32_t device) {
  End end;
  for (const Segment& segment : run.segments) {
    if (segment.device != device) continue;
    ++end.segments;
    end.reserved += segment.total_size;
    end.allocated += segment.allocated_size;
    end.active += segment.active_size;
    end.requested += segment.requested_size;
    for (const Block& block : segment.blocks) {
      if (block.state == Block::State::inactive)
        end.largest_inactive = std::max(end.largest_inactive, block.size);
    }
  }
  return end;
}

const std::vector<Event>* trace_of(const Run& run, int32_t device) {
  auto index = static_cast<size_t>(device);
  return index < run.traces.size() && !run.traces[index].empty() ? &run.traces[index] : nullptr;
}

uint64_t count_of(const std::vector<Event>& trace, Action action) {
  return static_cast<uint64_t>(
      std::count_if(trace.begin(), trace.end(), [&](const Event& event) { return event.action == action; }));
}

// Calls `use` with the analysis of the run's main device, unless others alone were asked for.
template <typename Use>
void with_main_analysis(const Run& run, const std::list<Analysis>& analyses, Use use) {
  int32_t device = run.main_device();
  for (const Analysis& analysis : analyses) {
    if (analysis.device() == device) return use(analysis);
  }
  if (!run.devices().contains(device)) use(Analysis(run, device));  // of a run that has no events
}

void add_analysis(const Analysis& analysis, const End& end, size_t most_blocks, json& object) {
  const std::optional<Breakdown>& at_end = analysis.at_end();
  if (at_end && at_end->totals.allocated == end.allocated && at_end->totals.reserved == end.reserved) {
    object["end"].update(views_json(analysis, *at_end, most_blocks));
  }
  if (analysis.at_peak() && object.contains("peak")) {
    object["peak"]["at_peak"] = totals_json(analysis.at_peak()->totals, analysis.at_peak()->largest_inactive);
    object["peak"].update(views_json(analysis, *analysis.at_peak(), most_blocks));
  }
  if (analysis.at_reserved_peak()) {
    object["reserved_peak"] = point_json(analysis, *analysis.at_reserved_peak(), most_blocks);
  }
  for (const Breakdown& point : analysis.points()) {
    object["moments"].push_back(point_json(analysis, point, most_blocks));
  }
  if (analysis.growth()) object["growth"] = growth_json(analysis, most_blocks);
}

std::string device_lines(const Run& run, const Analysis& analysis, const TextStyle& style) {
  int32_t device = analysis.device();
  End end = end_of(run, device);
  std::string text = fmt::format("device {}\n", device);
  auto line = [&](const char* name, const std::string& value) {
    text += named_line({.width = 11, .indent = 2}, name, value, style);
  };
  if (const std::vector<Event>* trace = trace_of(run, device)) {
    line("trace:", fmt::format("{}, {}, {}", counted(trace->size(), "event"),
                               counted(count_of(*trace, Action::alloc), "allocation"),
                               counted(count_of(*trace, Action::oom), "out-of-memory error")));
    if (std::optional<PeakPoint> peak = find_peak_point(run, device)) {
      line("peak:", "allocated " + bytes_exactly(peak->totals.allocated));
      line("", "reserved  " + bytes_exactly(peak->peak_reserved));
    } else {
      line("peak:", "not known, the trace does not fit together");
    }
  } else {
    line("trace:", "none was recorded, so only the end is known");
  }
  line("end:", "allocated " + bytes_exactly(end.allocated));
  line("", fmt::format("reserved  {} in {}", bytes_exactly(end.reserved), counted(end.segments, "segment")));
  line("", fmt::format("free in them {}, largest piece {}", bytes_exactly(end.reserved - end.active),
                       format_bytes(end.largest_inactive)));
  return text;
}

// The views of a device whose phases nobody told: at the peak, else at the end.
std::string device_views(const Analysis& analysis, const TextStyle& style) {
  const std::optional<Breakdown>& shown = analysis.at_peak() ? analysis.at_peak() : analysis.at_end();
  if (!shown) return "";
  std::string heading = "\n";
  if (!analysis.at_peak())
    heading += wrap("At the end, since the peak is not known: " + analysis.gap() + ".", 0, style);
  std::string growth = growth_text(analysis, style);
  return breakdown_text(analysis, *shown, heading, style) + moments_text(analysis, style) +
         (growth.empty() ? "" : "\n" + growth);
}

}  // namespace

json snapshot_json(const Run& run, const std::string& name, const std::list<Analysis>& analyses,
                   size_t most_blocks) {
  json result = {{"schema", "torchmem.snapshot/1"},
                 {"torchmem", TORCHMEM_VERSION},
                 {"file", name},
                 {"allocator_settings", run.allocator_settings}};
  json devices = json::array();
  for (const Analysis& analysis : analyses) {
    int32_t device = analysis.device();
    End end = end_of(run, device);
    json object = {{"device", device},
                   {"end",
                    {{"segments", end.segments},
                     {"reserved_bytes", end.reserved},
                     {"allocated_bytes", end.allocated},
                     {"active_bytes", end.active},
                     {"requested_bytes", end.requested},
                     {"inactive_bytes", end.reserved - end.active},
                     {"largest_inactive_bytes", end.largest_inactive}}}};
    if (const std::vector<Event>* trace = trace_of(run, device)) {
      object["events"] = trace->size();
      object["allocations"] = count_of(*trace, Action::alloc);
      object["out_of_memory"] = count_of(*trace, Action::oom);
    }
    if (std::optional<PeakPoint> peak = find_peak_point(run, device)) {
      object["peak"] = {{"allocated_bytes", peak->totals.allocated},
                        {"reserved_bytes", peak->peak_reserved},
                        {"event", peak->event}};
    }
    add_analysis(analysis, end, most_blocks, object);
    devices.push_back(std::move(object));
  }
  result["devices"] = std::move(devices);
  if (run.is_ours) {
    with_main_analysis(run, analyses, [&](const Analysis& analysis) {
      result["profile"] = profile_json(analysis, most_blocks);
    });
  }
  return result;
}

std::string snapshot_text(const Run& run, const std::string& name, const std::list<Analysis>& analyses,
                          const TextStyle& style) {
  const char* kind = run.is_ours ? "run file of torchmem" : "memory snapshot of PyTorch";
  std::string text = wrap(fmt::format("{}: {}", printable(name), kind), 0, style);
  if (analyses.empty()) text += wrap("nothing is in it: no segments and no trace", 2, style);
  for (const Analysis& analysis : analyses) {
    text += device_lines(run, analysis, style);
    // The main device's are in the profile.
    if (run.is_ours && analysis.device() == run.main_device()) continue;
    text += device_views(analysis, style);
  }
  if (!run.is_ours) return text;
  with_main_analysis(run, analyses, [&](const Analysis& analysis) {
    text += "\n";
    if (run.devices().size() > 1)
      text += tinted(style, Tint::bold, fmt::format("device {}, in full", analysis.device())) + "\n";
    text += profile_text(analysis, style);
  });
  return text;
}

}  // namespace torchmem
