#include "cli/commands.h"
#include "cli/output.h"
#include "launch/device_choice.h"
#include "launch/real_devices.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

json document() {
  json profiles = json::array();
  for (const json& profile : device_profiles()) {
    json entry = {{"id", profile.at("id")}, {"verified", profile.value("verified", false)}};
    for (const char* name : {"name", "total_bytes", "source", "note", "versions", "file"}) {
      if (profile.contains(name)) entry[name] = profile[name];
    }
    const json properties = profile.value("properties", json::object());
    if (properties.contains("major") && properties.contains("minor"))
      entry["compute_capability"] = properties["major"].dump() + "." + properties["minor"].dump();
    profiles.push_back(std::move(entry));
  }
  RealDevices real = find_real_devices();
  json gpus = json::array();
  for (size_t i = 0; i < real.devices.size(); ++i) {
    gpus.push_back(
        {{"index", i}, {"name", real.devices[i].name}, {"total_bytes", real.devices[i].total_bytes}});
  }
  json result = {{"schema", "torchmem.devices/1"},
                 {"torchmem", TORCHMEM_VERSION},
                 {"profiles", std::move(profiles)},
                 {"gpus", std::move(gpus)}};
  if (!real.why_none.empty()) result["why_no_gpu"] = real.why_none;
  return result;
}

std::string row(const std::string& name, const json& entry, const std::string& note) {
  return shorten(pad_right(name, 19) + " " + pad_right(entry.value("name", "?"), 24) + " " +
                     pad_left(format_bytes(entry.value("total_bytes", uint64_t{0})), 11) + "  " + note,
                 report_width) +
         "\n";
}

std::string text_of(const json& devices) {
  std::string text = "profiles of the virtual GPU:\n";
  for (const json& profile : devices["profiles"]) {
    bool verified = profile["verified"].get<bool>();
    text +=
        row("  virtual:" + profile["id"].get<std::string>(), profile, verified ? "verified" : "not verified");
    if (verified && profile.contains("source")) text += wrap(profile["source"].get<std::string>(), 4);
    if (profile.contains("note")) text += wrap(profile["note"].get<std::string>(), 4);
  }
  text += wrap(
      "Not verified: from published numbers, never run against such a card; cuDNN's workspaces are those of "
      "the H200. A profile is one file, which names the source of each of its numbers (--json has its path) "
      "and can be copied, changed and given as virtual:FILE.json.",
      2);
  text += "GPUs of this machine:\n";
  for (const json& gpu : devices["gpus"]) text += row("  cuda:" + gpu["index"].dump(), gpu, "");
  if (devices["gpus"].empty()) text += wrap("none: " + devices["why_no_gpu"].get<std::string>(), 2);
  return text;
}

class DevicesCommand : public Command {
 public:
  void declare(CLI::App&) override {}

  ExitCode run() override {
    check_outputs({{"--json", common.json}}, {});
    outputs_checked = true;
    json devices = document();
    if (!common.json.empty()) write_json_output(common.json, devices);
    if (common.json != "-") write_stdout(text_of(devices));
    return ExitCode::yes;
  }
};

}  // namespace

std::unique_ptr<Command> make_devices_command() { return std::make_unique<DevicesCommand>(); }

}  // namespace torchmem
