// A device profile (docs/devices.md), checked before a virtual GPU is made of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace torchmem {

// Throws Error(bad_input) with the file, the field, what it is and what is expected, for every field that the
// virtual GPU or a report reads.
nlohmann::json read_device_profile(const std::string& path);

}  // namespace torchmem
