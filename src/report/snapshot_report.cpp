#include <algorithm>
#include <set>

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

std::set<int32_t> devices_of(const Run& run) {
  std::set<int32_t> devices;
  for (const Segment& segment : run.segments) devices.insert(segment.device);
  for (size_t device = 0; device < run.traces.size(); ++device) {
    if (!run.traces[device].empty()) devices.insert(static_cast<int32_t>(device));
  }
  return devices;
}

const std::vector<Event>* trace_of(const Run& run, int32_t device) {
  auto index = static_cast<size_t>(device);
  return index < run.traces.size() && !run.traces[index].empty() ? &run.traces[index] : nullptr;
}

uint64_t count_of(const std::vector<Event>& trace, Action action) {
  return static_cast<uint64_t>(
      std::count_if(trace.begin(), trace.end(), [&](const Event& event) { return event.action == action; }));
}

}  // namespace

json snapshot_json(const Run& run, const std::string& name) {
  json result = {{"schema", "torchmem.snapshot/1"},
                 {"torchmem", TORCHMEM_VERSION},
                 {"file", name},
                 {"allocator_settings", run.allocator_settings}};
  json devices = json::array();
  for (int32_t device : devices_of(run)) {
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
    if (std::optional<PeakMoment> peak = find_peak_moment(run, device)) {
      object["peak"] = {{"allocated_bytes", peak->totals.allocated},
                        {"reserved_bytes", peak->peak_reserved},
                        {"event", peak->event}};
    }
    devices.push_back(std::move(object));
  }
  result["devices"] = std::move(devices);
  if (run.is_ours) result["profile"] = profile_json(run);
  return result;
}

std::string snapshot_text(const Run& run, const std::string& name) {
  std::string text =
      wrap(name + ": " + (run.is_ours ? "run file of torchmem" : "memory snapshot of PyTorch"), 0);
  std::set<int32_t> devices = devices_of(run);
  if (devices.empty()) text += "  nothing is in it: no segments and no trace\n";
  for (int32_t device : devices) {
    End end = end_of(run, device);
    const std::vector<Event>* trace = trace_of(run, device);
    text += "device " + std::to_string(device) + "\n";
    if (trace) {
      text += "  trace:     " + counted(trace->size(), "event") + ", " +
              counted(count_of(*trace, Action::alloc), "allocation") + ", " +
              counted(count_of(*trace, Action::oom), "out-of-memory error") + "\n";
      if (std::optional<PeakMoment> peak = find_peak_moment(run, device)) {
        text += "  peak:      allocated " + bytes_exactly(peak->totals.allocated) + "\n";
        text += "             reserved  " + bytes_exactly(peak->peak_reserved) + "\n";
      } else {
        text += "  peak:      not known, the trace does not fit together\n";
      }
    } else {
      text += "  trace:     none was recorded, so only the end is known\n";
    }
    text += "  end:       allocated " + bytes_exactly(end.allocated) + "\n";
    text += "             reserved  " + bytes_exactly(end.reserved) + " in " +
            counted(end.segments, "segment") + "\n";
    text += "             free in them " + bytes_exactly(end.reserved - end.active) + ", largest piece " +
            format_bytes(end.largest_inactive) + "\n";
  }
  if (run.is_ours) text += "\n" + profile_text(run);
  return text;
}

}  // namespace torchmem
