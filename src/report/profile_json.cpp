#include "report/fidelity.h"
#include "run/phase_json.h"
#include "torchmem/peak.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

json moment_json(const PeakMoment& moment) {
  const AllocatorTotals& totals = moment.totals;
  return {{"allocated_bytes", totals.allocated},
          {"requested_bytes", totals.requested},
          {"active_bytes", totals.active},
          {"reserved_bytes", totals.reserved},
          {"rounding_bytes", totals.active - totals.requested},
          {"inactive_split_bytes", totals.inactive_split},
          {"largest_inactive_bytes", moment.largest_inactive}};
}

json peak_json(const Peak& peak) {
  json object = {{"allocated_bytes", peak.allocated}};
  if (peak.reserved) object["reserved_bytes"] = *peak.reserved;
  if (peak.requested) object["requested_bytes"] = *peak.requested;
  if (peak.device_bytes) object["device_bytes"] = *peak.device_bytes;
  if (peak.phase) object["phase"] = *peak.phase;
  if (peak.iteration) object["iteration"] = *peak.iteration;
  if (peak.moment) object["at_peak"] = moment_json(*peak.moment);
  return object;
}

}  // namespace

json profile_json(const Run& run) {
  json result = {{"schema", "torchmem.profile/1"}, {"torchmem", TORCHMEM_VERSION}};
  for (const auto& [name, value] : run.facts.items()) {
    if (!result.contains(name)) result[name] = value;
  }
  json phases = json::array();
  for (const Phase& phase : run.phases) phases.push_back(phase_to_json(phase));
  result["phases"] = std::move(phases);
  if (std::optional<Peak> peak = find_peak(run)) result["peak"] = peak_json(*peak);
  result["fidelity"] = fidelity_json(run);
  result["error"] = run.error ? error_to_json(*run.error) : json();
  return result;
}

}  // namespace torchmem
