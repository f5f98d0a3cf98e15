#include "launch/engine_info.h"

#include <fstream>
#include <iostream>

#include "report/accuracy.h"
#include "report/shortage.h"
#include "report/text.h"
#include "run/run_info_json.h"

namespace torchmem {

using nlohmann::json;

namespace {

// "9.19.0" as 91900.
int64_t cudnn_number(const std::string& version) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  if (std::sscanf(version.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2) return 0;
  return int64_t{10000} * major + 100 * minor + patch;
}

// What the profile says of itself that a result should say too: that its workspace table is another card's,
// and its note.
void add_profile_info(RunInfo::Device& about, const json& profile, const DeviceChoice& device) {
  const json table = profile.value("cudnn_facts", json());  // "h200-cudnn-91900"
  if (table.is_string()) {
    const auto& name = table.get_ref<const std::string&>();
    size_t end = name.find("-cudnn");
    if (end != std::string::npos && name.substr(0, end) != profile.value("id", device.profile_id))
      about.workspaces_of = name.substr(0, end);
  }
  if (const json note = profile.value("note", json()); note.is_string()) about.note = note.get<std::string>();
}

// A profile is verified for the versions that it was checked with.
bool is_verified(const Run& run, const json& profile) {
  if (profile.value("verified", json()) != true) return false;
  json checked = profile.value(json::json_pointer("/versions/cudnn"), json());
  const std::string& used = run.info.software.cudnn;
  return used.empty() || !checked.is_number_integer() || checked.get<int64_t>() == cudnn_number(used);
}

}  // namespace

void add_device_info(Run& run, const DeviceChoice& device) {
  RunInfo::Device& about = run.info.device;
  if (device.kind == DeviceChoice::Kind::virtual_gpu) {
    about.kind = "virtual";
    about.profile = device.profile_id;
    std::ifstream in(device.profile_file);
    json profile = json::parse(in, nullptr, /*allow_exceptions=*/false);
    if (!profile.is_object()) profile = json::object();
    about.verified = is_verified(run, profile);
    add_profile_info(about, profile, device);
  } else {
    about.kind = "cuda";
    about.index = device.index;
  }
  if (!device.why.empty()) about.chosen = device.why;
}

void add_engine_info(Run& run, const RunRequest& request, const DeviceChoice& device) {
  if (run.info.model.path.empty()) run.info.model.path = request.model;
  if (json told = info_json(run.info); !told.contains("arguments")) {
    told["arguments"] = arguments_of(request);
    run.info = info_from_json(std::move(told));
  }
  if (run.allocator_settings.empty()) {
    run.allocator_settings = {{"PYTORCH_CUDA_ALLOC_CONF", request.alloc_conf.value_or("")}};
  }
  add_device_info(run, device);
}

Error decided_error(const std::string& start, const Run& run) {
  return {ErrorKind::decided_by_assumed_values, start + decision_text(run.assumptions) +
                                                    ". A GPU may go another way. Say what the value is with "
                                                    "--assume FILE, accept what was assumed with "
                                                    "--allow-assumed, or use a real GPU."};
}

void say_error(const Run& run, const std::string& saved, bool told) {
  const RunError& error = *run.error;
  std::string text = without_vain_advice(error.message);
  bool says_phase = error.kind == ErrorKind::out_of_memory || error.kind == ErrorKind::model_failed ||
                    error.kind == ErrorKind::assumed_reads;
  if (says_phase && error.phase) {
    text = phase_name(*error.phase, error.iteration ? &*error.iteration : nullptr) + ": " + text;
  }
  if (error.kind == ErrorKind::model_failed) {
    if (std::string assumed = assumed_before_text(run); !assumed.empty()) text += "\n" + assumed;
  }
  const bool is_kept = !saved.empty() && saved != "-";
  if (told) text = is_kept ? "what ran until then is in " + saved : "";
  if (!told && is_kept) text += "\nWhat ran until then is in " + saved + ".";
  if (text.empty()) return;
  std::cerr << "torchmem: " << text << std::endl;
}

}  // namespace torchmem
