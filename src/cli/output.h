// Where results go. Files appear under their name whole or not at all, and never replace an input.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

// Checks before any work that each output can be written where it is to go, and that it is none of the inputs
// and no other output. Throws Error(bad_usage) naming the option. Empty paths are skipped.
struct OutputPath {
  std::string option;  // "--save"
  std::string path;
};
void check_outputs(const std::vector<OutputPath>& outputs, const std::vector<std::string>& inputs);

// Writes to standard output. Throws Error(bad_usage) when it cannot (a full disk, a closed descriptor).
void write_stdout(std::string_view text);

// Writes a file; throws Error(bad_usage) naming the option.
void write_output(const std::string& option, const std::string& path, std::string_view text);

// Does each, also when one before it throws, so that no result is lost; then throws the first error again.
void write_all(const std::vector<std::function<void()>>& outputs);

// --json: "-" is standard output.
void write_json_output(const std::string& path, const nlohmann::json& document);

}  // namespace torchmem
