#include <string_view>

#include "analyze/phase_time.h"
#include "run/phase_json.h"
#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/diff.h"
#include "torchmem/peak.h"
#include "torchmem/point.h"

namespace torchmem {

using nlohmann::json;

namespace {

using Amounts = std::map<std::string, uint64_t>;

constexpr std::string_view profile_schema = "torchmem.profile/1";
constexpr std::string_view snapshot_schema = "torchmem.snapshot/1";

std::optional<Amounts>& part(DeviceAccount& account, std::string_view name) {
  for (size_t i = 0; i < diff_part_count; ++i) {
    if (diff_parts[i].name == name) return account[i];
  }
  throw Error(ErrorKind::internal, "there is no part '" + std::string(name) + "' of a comparison");
}

// Changes are signed numbers of 64 bits.
void add(Amounts& amounts, const std::string& name, uint64_t bytes) {
  uint64_t& sum = amounts[name];
  constexpr auto most = static_cast<uint64_t>(INT64_MAX);
  if (bytes > most || sum > most - bytes) {
    throw Error(ErrorKind::bad_input, "cannot compare '" + name + "' of " + std::to_string(bytes) +
                                          " B: no device has as much memory, so the file is damaged");
  }
  sum += bytes;
}

void add(Amounts& amounts, const std::string& name, const std::optional<uint64_t>& bytes) {
  if (bytes) add(amounts, name, *bytes);
}

void set_if_any(std::optional<Amounts>& slot, Amounts amounts) {
  if (!amounts.empty()) slot = std::move(amounts);
}

void set_phases(DeviceAccount& account, const std::vector<Phase>& phases) {
  Amounts peaks;
  Amounts ends;
  Amounts reserved;
  for (const Phase& phase : phases) {
    std::string name = name_of_phase(phase, true);
    if (phase.allocated) {
      // A phase that happens twice is known by its last time.
      peaks.erase(name);
      ends.erase(name);
      add(peaks, name, phase.allocated->peak);
      add(ends, name, phase.allocated->current);
    }
    if (phase.reserved) {
      reserved.erase(name);
      add(reserved, name, phase.reserved->peak);
    }
  }
  set_if_any(part(account, "phases_peak_allocated"), std::move(peaks));
  set_if_any(part(account, "phases_allocated"), std::move(ends));
  set_if_any(part(account, "phases_peak_reserved"), std::move(reserved));
}

struct Owners {
  Amounts categories;
  Amounts modules;
  Amounts ops;
  Amounts lines;
};

bool knows_somebody(const Amounts& owners, std::string_view unknown) {
  for (const auto& [name, bytes] : owners) {
    if (bytes > 0 && name != unknown) return true;
  }
  return false;
}

// Owners of whom nobody is known are not there. Who recorded categories recorded the others too: a model
// without modules is all root.
void set_owners(DeviceAccount& account, Owners owners) {
  bool recorded = knows_somebody(owners.categories, name_of(Category::other));
  auto set = [&](const char* name, Amounts amounts) {
    if (recorded || knows_somebody(amounts, "")) part(account, name) = std::move(amounts);
  };
  if (recorded) part(account, "categories") = std::move(owners.categories);
  set("modules", std::move(owners.modules));
  set("ops", std::move(owners.ops));
  set("lines", std::move(owners.lines));
}

void add_modules(Amounts& amounts, const ModuleUsage& module) {
  add(amounts, module.path, module.own);
  for (const ModuleUsage& child : module.children) add_modules(amounts, child);
}

Owners owners_of(const Breakdown& parts) {
  Owners owners;
  for (const UsageEntry& share : parts.categories) add(owners.categories, share.name, share.bytes);
  add_modules(owners.modules, parts.root);
  for (const UsageEntry& share : parts.ops) add(owners.ops, share.name, share.bytes);
  for (const UsageEntry& share : parts.lines) add(owners.lines, share.name, share.bytes);
  return owners;
}

Amounts amounts_of(const json& list, const char* name, const char* bytes) {
  Amounts amounts;
  for (const json& item : list)
    add(amounts, item.at(name).get<std::string>(), item.at(bytes).get<uint64_t>());
  return amounts;
}

Owners owners_of(const json& peak) {
  Owners owners;
  for (const auto& [name, bytes] : peak.at("by_category").items())
    add(owners.categories, name, bytes.get<uint64_t>());
  owners.modules = amounts_of(peak.at("by_module"), "path", "own_bytes");
  owners.ops = amounts_of(peak.at("by_op"), "name", "bytes");
  owners.lines = amounts_of(peak.at("by_line"), "name", "bytes");
  return owners;
}

// The report in the document, or the one within it.
const json& profile_in(const json& document) {
  std::string schema = document.is_object() ? document.value("schema", "") : "";
  if (schema == profile_schema) return document;
  if (schema == snapshot_schema && document.contains("profile")) return document.at("profile");
  std::string what = schema.empty() ? "no report of torchmem" : "'" + schema + "'";
  if (schema == snapshot_schema) what += " of a snapshot that PyTorch dumped, which says too little";
  throw Error(ErrorKind::bad_input,
              "it is " + what + "; expected '" + std::string(profile_schema) +
                  "', as torchmem profile --json writes it, a run file or a memory snapshot");
}

// Amounts and owners at a peak, as a report has them.
void set_peak(DeviceAccount& account, const json& peak) {
  Amounts peaks;
  for (const char* name : {"allocated", "reserved", "requested", "device"}) {
    auto bytes = peak.find(std::string(name) + "_bytes");
    if (bytes != peak.end()) add(peaks, name, bytes->get<uint64_t>());
  }
  set_if_any(part(account, "peak"), std::move(peaks));
  if (peak.contains("by_category")) set_owners(account, owners_of(peak));
}

DeviceAccount account_of_profile(const json& report) {
  DeviceAccount account;
  std::vector<Phase> phases;
  for (const json& phase : report.at("phases")) phases.push_back(phase_from_json(phase));
  set_phases(account, phases);
  if (report.contains("peak")) set_peak(account, report.at("peak"));
  return account;
}

// The device that the profile in a document is about (Run::main_device).
int32_t profiled_device(const json& document, const json& profile) {
  std::vector<int32_t> traced;
  for (const json& device : document.value("devices", json::array())) {
    if (device.contains("events")) traced.push_back(device.at("device").get<int32_t>());
  }
  return traced.size() == 1 ? traced.front() : profile.value(json::json_pointer("/device/index"), 0);
}

DeviceAccount account_of_device(const Run& run, int32_t device) {
  DeviceAccount account;
  if (device == run.main_device()) set_phases(account, run.phases);
  std::optional<Peak> peak = find_peak(run, device);
  if (!peak) return account;
  Amounts peaks;
  add(peaks, "allocated", peak->allocated);
  add(peaks, "reserved", peak->reserved);
  add(peaks, "requested", peak->requested);
  add(peaks, "device", peak->device_bytes);
  part(account, "peak") = std::move(peaks);
  // Owners at another peak than the one stated would not add up to it.
  if (!peak->point || peak->point->totals.allocated != peak->allocated) return account;
  BlockHistory history(run, device);
  set_owners(account, owners_of(break_down(run, history, device, find_point(run, history, device, "peak"))));
  return account;
}

}  // namespace

Account account_of(const Run& run, const std::string& file) {
  Account account{file, run.is_ours ? "run file" : "memory snapshot", {}};
  for (int32_t device : run.devices()) account.devices[device] = account_of_device(run, device);
  if (account.devices.empty()) account.devices[run.main_device()] = account_of_device(run, run.main_device());
  return account;
}

Account account_of(const json& document, const std::string& file) {
  try {
    const json& report = profile_in(document);
    Account account{file, "JSON report", {}};
    int32_t profiled = profiled_device(document, report);
    account.devices[profiled] = account_of_profile(report);
    for (const json& device : document.value("devices", json::array())) {
      auto number = device.at("device").get<int32_t>();
      if (number == profiled) continue;
      DeviceAccount& other = account.devices[number];
      if (device.contains("peak")) set_peak(other, device.at("peak"));
    }
    return account;
  } catch (const json::exception& error) {
    throw Error(ErrorKind::bad_input,
                std::string("it is not as docs/schema/profile.json says: ") + error.what());
  }
}

}  // namespace torchmem
