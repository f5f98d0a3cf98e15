// What --device says: auto, cuda[:N], virtual[:PROFILE] or virtual[:FILE].
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

struct DeviceChoice {
  enum class Kind { cuda, virtual_gpu } kind = Kind::virtual_gpu;
  int index = 0;                        // cuda
  std::filesystem::path profile_file;   // virtual_gpu
  std::string profile_id;               // virtual_gpu
  std::optional<uint64_t> total_bytes;  // virtual_gpu: its memory, in place of what the profile says
  std::string why;                      // what `auto` found; empty when the device was named
};

// Settles on a device. Throws Error(bad_usage) for what is no device or profile, Error(unavailable) when the
// GPU asked for is not there.
DeviceChoice choose_device(std::string_view text);

// The device profiles that come with torchmem, by id; "file" is added to each.
std::vector<nlohmann::json> device_profiles();

}  // namespace torchmem
