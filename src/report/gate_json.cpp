#include "report/gate_json.h"

#include <utility>

#include "report/accuracy.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"

namespace torchmem {

using nlohmann::json;

namespace {

json growth_json(const std::vector<GateGrowth>& growth) {
  json list = json::array();
  for (const GateGrowth& entry : growth)
    list.push_back(
        {{"name", entry.name}, {"baseline_bytes", entry.baseline}, {"measured_bytes", entry.measured}});
  return list;
}

}  // namespace

json gate_json(const GateReport& report) {
  json result = {{"schema", "torchmem.gate/1"}, {"torchmem", TORCHMEM_VERSION}};
  if (report.verdict() != GateVerdict::error) result["passed"] = report.verdict() == GateVerdict::passed;
  if (report.run) {
    const json info = info_json(report.run->info);
    for (const char* name : {"model", "device", "software", "arguments"}) {
      if (info.contains(name)) result[name] = info[name];
    }
    result["fidelity"] = accuracy_json(*report.run);
  }
  result["checks"] = json::array();
  for (const GateCheck& check : report.checks) {
    json entry = {{"name", check.name},
                  {"measured_bytes", check.measured},
                  {"allowed_bytes", check.allowed},
                  {"against", check.baseline ? "baseline" : "budget"},
                  {"passed", check.passed()}};
    if (check.baseline) entry["baseline_bytes"] = *check.baseline;
    result["checks"].push_back(std::move(entry));
  }
  result["growth"] = growth_json(report.growth);
  if (!report.reserved_growth.empty()) result["reserved_growth"] = growth_json(report.reserved_growth);
  for (const HeldSegment& segment : report.segments) {
    result["segments"].push_back({{"pool", segment.pool},
                                  {"bytes", segment.bytes},
                                  {"free_bytes", segment.free},
                                  {"blocks", segment.blocks},
                                  {"largest_bytes", segment.largest_bytes},
                                  {"largest", segment.largest}});
  }
  result["warnings"] = report.warnings;
  if (report.numbers) result["numbers"] = numbers_to_json(*report.numbers);
  result["error"] = report.error ? error_to_json(*report.error) : json();
  return result;
}

}  // namespace torchmem
