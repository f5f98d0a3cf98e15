#include "report/html_data.h"

#include <algorithm>
#include <set>

#include "report/accuracy.h"
#include "report/run_header.h"
#include "report/text.h"
#include "run/assumption_json.h"
#include "run/phase_json.h"
#include "torchmem/bytes.h"
#include "torchmem/peak.h"

namespace torchmem {

using nlohmann::json;

namespace {

json info_rows(const Run& run, const std::string& name) {
  json rows = json::array();
  auto add = [&](const char* title, const std::string& text) {
    if (!text.empty()) rows.push_back({title, text});
  };
  const std::string& model = run.info.model.path;
  if (model != name) add("model", model);
  if (const auto& bytes = run.info.model.parameter_bytes) add("parameters", format_bytes(*bytes));
  std::string device = device_text(run);
  if (const std::string& chosen = run.info.device.chosen; !chosen.empty()) device += ", " + chosen;
  add("device", device);
  add("torch", run.info.software.torch);
  add("CUDA", run.info.software.cuda);
  add("cuDNN", run.info.software.cudnn);
  add("run", arguments_text(run));
  add("rewritten", rewritten_text(run));
  if (!run.is_ours) add("from", "a memory snapshot of PyTorch");
  return rows;
}

json peak_json(const Run& run) {
  std::optional<Peak> peak = find_peak(run);
  if (!peak) return json();
  json object = {{"allocated", peak->allocated}};
  if (peak->reserved) object["reserved"] = *peak->reserved;
  if (peak->device_bytes) object["device_bytes"] = *peak->device_bytes;
  if (peak->phase) object["phase"] = *peak->phase;
  if (peak->iteration) object["iteration"] = *peak->iteration;
  return object;
}

json assumption_rows(const Run& run) {
  json list = json::array();
  for (const AssumptionRecord& assumption : run.assumptions) {
    std::string kind(name_of(assumption.kind));
    std::replace(kind.begin(), kind.end(), '_', ' ');
    if (assumption.unknown) kind += ", size not known, taken as 0";
    if (assumption.without) kind += ", out of memory; another engine stands in";
    json row = {{"kind", kind}, {"times", assumption.count}, {"bytes", assumption.bytes}};
    const json known = assumption_to_json(assumption);
    for (const char* name : {"name", "op", "module", "line", "taken_for", "decides", "what"}) {
      auto found = known.find(name);
      if (found == known.end() || found->is_null()) continue;
      row[name] = found->is_string() ? *found : json(found->dump());
    }
    list.push_back(std::move(row));
  }
  return list;
}

// From the trace, else what the segments hold at the end.
uint64_t most_allocated(const Run& run, int32_t device) {
  if (std::optional<PeakPoint> peak = find_peak_point(run, device)) return peak->totals.allocated;
  uint64_t bytes = 0;
  for (const Segment& segment : run.segments) {
    if (segment.device == device) bytes += segment.allocated_size;
  }
  return bytes;
}

std::set<int32_t> devices_of(const Run& run) {
  std::set<int32_t> devices = run.devices();
  devices.insert(run.main_device());
  return devices;
}

// The device that held most at any moment; of equal ones the run's main one.
int32_t fullest_of(const Run& run, const std::set<int32_t>& devices) {
  int32_t fullest = run.main_device();
  if (devices.size() == 1) return fullest;
  uint64_t most = most_allocated(run, fullest);
  for (int32_t device : devices) {
    uint64_t bytes = most_allocated(run, device);
    if (bytes <= most) continue;
    most = bytes;
    fullest = device;
  }
  return fullest;
}

}  // namespace

json html_data(const Run& run, const std::string& name, std::optional<int32_t> opened) {
  json result = {{"version", TORCHMEM_VERSION}, {"title", name}, {"facts", info_rows(run, name)}};
  result["peak"] = peak_json(run);
  if (run.is_ours) {
    json fidelity = accuracy_json(run);
    result["fidelity"] = {{"complete", fidelity["complete"]},
                          {"verified", fidelity["verified"]},
                          {"doubt", doubt_text(run)},
                          {"findings", assumption_rows(run)}};
  } else {
    result["fidelity"] = json();
  }
  result["error"] = run.error ? error_to_json(*run.error) : json();
  json categories = json::array();
  for (size_t i = 0; i < category_count; ++i) categories.push_back(name_of(static_cast<Category>(i)));
  result["categories"] = std::move(categories);
  json devices = json::array();
  const std::set<int32_t> numbers = devices_of(run);
  if (!opened) opened = fullest_of(run, numbers);
  for (int32_t device : numbers) {
    if (device == run.main_device()) result["main"] = devices.size();
    if (device == *opened) result["shown"] = devices.size();
    devices.push_back(html_device(run, device));
  }
  result["devices"] = std::move(devices);
  return result;
}

}  // namespace torchmem
