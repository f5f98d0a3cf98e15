#include "study/fit_question.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "request/sizes.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::bad_usage, why); }

std::vector<std::string> names_in(const std::string& devices) {
  std::vector<std::string> names;
  if (devices == "all") {
    for (const nlohmann::json& profile : device_profiles())
      names.push_back(profile.at("id").get<std::string>());
    return names;
  }
  for (size_t start = 0; start <= devices.size();) {
    size_t end = std::min(devices.find(',', start), devices.size());
    names.push_back(devices.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

}  // namespace

std::vector<FitDevice> fit_devices(const std::string& device, const std::string& devices) {
  if (devices.empty()) {
    DeviceChoice choice = choose_device(device);
    std::string name = choice.kind == DeviceChoice::Kind::cuda ? fmt::format("cuda:{}", choice.index)
                                                               : "virtual:" + choice.profile_id;
    return {{std::move(name), std::move(choice)}};
  }
  std::vector<FitDevice> chosen;
  const std::vector<std::string> names = names_in(devices);
  for (const std::string& name : names) {
    if (std::count(names.begin(), names.end(), name) > 1)
      refuse(fmt::format("--devices {}: {} is named twice", devices, name));
    chosen.push_back({name, choose_device(name.find(':') == std::string::npos ? "virtual:" + name : name)});
  }
  return chosen;
}

uint64_t least_size(const FitBounds& bounds) {
  return (bounds.least + bounds.multiple - 1) / bounds.multiple * bounds.multiple;
}

void check_bounds(const FitBounds& bounds) {
  if (bounds.least > bounds.most)
    refuse(fmt::format("--min {} is more than --max {}", bounds.least, bounds.most));
  if (least_size(bounds) > bounds.most) {
    refuse(
        fmt::format("there is no multiple of {} from {} to {}", bounds.multiple, bounds.least, bounds.most));
  }
}

std::string varied_dimension(const RunRequest& request, const std::string& wanted) {
  const std::vector<std::string> names = open_dimensions(request);
  if (names.empty()) {
    refuse(
        "no dimension of the inputs has a name. Write one in capital letters in place of its size, e.g. "
        "--input f32:Bx3x224x224 --vary B");
  }
  if (wanted.empty()) {
    if (names.size() == 1) return names.front();
    refuse(
        fmt::format("the inputs have several dimensions without a size, {} and {}; --vary names the one "
                    "that varies, and the others need a number",
                    names[0], names[1]));
  }
  if (std::find(names.begin(), names.end(), wanted) == names.end())
    refuse(fmt::format("--vary {}: no input has a dimension of that name", wanted));
  for (const std::string& name : names) {
    if (name != wanted)
      refuse(fmt::format("--vary {}: dimension {} of the inputs has no size; write a number", wanted, name));
  }
  return wanted;
}

}  // namespace torchmem
