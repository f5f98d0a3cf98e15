#include "launch/device_choice.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>

#include "launch/device_profile.h"
#include "launch/layout.h"
#include "launch/real_devices.h"
#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::string_view default_profile = "h200";
constexpr std::string_view expected =
    "Expected auto, cuda, cuda:N, virtual, virtual:PROFILE or virtual:FILE.json.";

[[noreturn]] void refuse(ErrorKind kind, const std::string& what) { throw Error(kind, "--device: " + what); }

DeviceChoice choose_virtual(const std::string& name) {
  DeviceChoice choice;
  std::error_code error;
  if (name.find('/') != std::string::npos || name.ends_with(".json")) {
    choice.profile_file = fs::absolute(name);
    // A pipe could be read once, and the engine reads it again.
    if (fs::exists(name, error) && !fs::is_regular_file(name, error))
      refuse(ErrorKind::bad_usage,
             fmt::format("{} is {}, but the file of a device profile is expected", name,
                         fs::is_directory(name, error) ? "a directory" : "no plain file"));
    choice.profile_id = read_device_profile(name).value("id", choice.profile_file.stem().string());
    return choice;
  }
  std::vector<std::string> known;
  for (const json& profile : device_profiles()) {
    std::string id = profile.at("id").get<std::string>();
    if (id == lower_case(name)) {
      choice.profile_file = profile.at("file").get<std::string>();
      choice.profile_id = id;
      return choice;
    }
    known.push_back(id);
  }
  refuse(ErrorKind::bad_usage,
         fmt::format(
             "there is no profile '{}'. Profiles: {}.\nA profile of your own is given as virtual:FILE.json "
             "(torchmem devices lists all).",
             name, joined(known)));
}

DeviceChoice choose_cuda(std::string_view number) {
  DeviceChoice choice;
  choice.kind = DeviceChoice::Kind::cuda;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), choice.index);
  if (!number.empty() && (error != std::errc() || end != number.data() + number.size() || choice.index < 0)) {
    refuse(ErrorKind::bad_usage, fmt::format("'{}' is not a GPU's number, which counts from 0", number));
  }
  RealDevices real = find_real_devices();
  if (real.devices.empty()) {
    refuse(ErrorKind::unavailable, "there is no GPU here: " + real.why_none +
                                       ".\nUse --device virtual, which needs no GPU and no driver.");
  }
  if (static_cast<size_t>(choice.index) >= real.devices.size()) {
    refuse(ErrorKind::unavailable,
           fmt::format("there is no cuda:{}: this machine has {} GPU(s), counted from 0", choice.index,
                       real.devices.size()));
  }
  return choice;
}

}  // namespace

std::vector<json> device_profiles() {
  std::vector<json> profiles;
  for (const auto& entry : fs::directory_iterator(profiles_directory())) {
    if (entry.path().extension() != ".json") continue;
    json profile = read_device_profile(entry.path().string());
    if (!profile.contains("id")) profile["id"] = entry.path().stem().string();
    profile["file"] = entry.path().string();
    profiles.push_back(std::move(profile));
  }
  std::sort(profiles.begin(), profiles.end(), [](const json& a, const json& b) { return a["id"] < b["id"]; });
  return profiles;
}

namespace {

DeviceChoice choose(std::string_view text) {
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  bool has_more = colon != std::string_view::npos;
  std::string more(has_more ? text.substr(colon + 1) : std::string_view());
  if (has_more && more.empty()) {
    refuse(ErrorKind::bad_usage, fmt::format("'{}' names nothing after the colon. {}", text, expected));
  }
  if (kind == "virtual") return choose_virtual(has_more ? more : std::string(default_profile));
  if (kind == "cuda") return choose_cuda(more);
  if (text != "auto" && !has_more) {
    const std::vector<json> profiles = device_profiles();
    // The profile of a card by its name alone.
    if (std::any_of(profiles.begin(), profiles.end(),
                    [&](const json& profile) { return profile.at("id") == lower_case(std::string(text)); }))
      return choose_virtual(std::string(text));
  }
  if (text != "auto") refuse(ErrorKind::bad_usage, fmt::format("'{}' is no device. {}", text, expected));
  RealDevices real = find_real_devices();
  if (!real.devices.empty()) {
    DeviceChoice choice;
    choice.kind = DeviceChoice::Kind::cuda;
    choice.why = "auto: this machine has a GPU";
    return choice;
  }
  DeviceChoice choice = choose_virtual(std::string(default_profile));
  choice.why = "auto: " + real.why_none;
  return choice;
}

}  // namespace

DeviceChoice choose_device(std::string_view text) {
  DeviceChoice choice = choose(text);
  const std::string why = choice.why.empty() ? "as asked for" : choice.why;
  if (choice.kind == DeviceChoice::Kind::cuda) {
    spdlog::debug("device cuda:{} ({})", choice.index, why);
  } else {
    spdlog::debug("device virtual:{} of {} ({})", choice.profile_id, choice.profile_file.string(), why);
  }
  return choice;
}

}  // namespace torchmem
