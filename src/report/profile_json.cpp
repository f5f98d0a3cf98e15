#include "report/accuracy.h"
#include "report/breakdown_json.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

json peak_json(const Analysis& analysis, size_t most_blocks) {
  const Peak& peak = *analysis.peak();
  json object = {{"allocated_bytes", peak.allocated}};
  if (peak.reserved) object["reserved_bytes"] = *peak.reserved;
  if (peak.requested) object["requested_bytes"] = *peak.requested;
  if (peak.device_bytes) object["device_bytes"] = *peak.device_bytes;
  if (peak.phase) object["phase"] = *peak.phase;
  if (peak.iteration) object["iteration"] = *peak.iteration;
  if (peak.point) object["at_peak"] = totals_json(peak.point->totals, peak.point->largest_inactive);
  // Views of another peak than the one stated would not add up to it.
  if (analysis.at_peak() && analysis.at_peak()->totals.allocated == peak.allocated) {
    object.update(views_json(analysis, *analysis.at_peak(), most_blocks));
  }
  return object;
}

}  // namespace

json profile_json(const Analysis& analysis, size_t most_blocks) {
  const Run& run = analysis.run();
  json result = {{"schema", "torchmem.profile/1"}, {"torchmem", TORCHMEM_VERSION}};
  const json info = info_json(run.info);
  for (const auto& [name, value] : info.items()) {
    if (!result.contains(name)) result[name] = value;
  }
  json phases = json::array();
  for (const Phase& phase : run.phases) phases.push_back(phase_to_json(phase));
  result["phases"] = std::move(phases);
  if (analysis.peak()) result["peak"] = peak_json(analysis, most_blocks);
  if (analysis.at_reserved_peak()) {
    result["reserved_peak"] = point_json(analysis, *analysis.at_reserved_peak(), most_blocks);
  }
  if (!analysis.points().empty()) {
    json points = json::array();
    for (const Breakdown& point : analysis.points()) {
      points.push_back(point_json(analysis, point, most_blocks));
    }
    result["moments"] = std::move(points);
  }
  if (analysis.growth()) result["growth"] = growth_json(analysis, most_blocks);
  result["fidelity"] = accuracy_json(run);
  result["error"] = run.error ? error_to_json(*run.error) : json();
  return result;
}

json profile_json(const Run& run) { return profile_json(Analysis(run, run.main_device())); }

}  // namespace torchmem
