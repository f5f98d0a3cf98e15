// JSON that the user wrote.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace torchmem::cli {

// Throws Error(bad_input) "`what` PATH: why" for a file that cannot be read or is not JSON.
nlohmann::json read_json_file(const std::string& path, const std::string& what);

}  // namespace torchmem::cli
