// A scenario file (docs/scenario.md), read and checked whole before anything runs.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "torchmem/scenario.h"

namespace torchmem {

struct ScenarioFile {
  Scenario scenario;
  std::optional<uint64_t> limit_bytes;
  std::optional<std::string> alloc_conf;
  std::vector<std::string> models;  // the files that it loads
};

// Loops are unrolled and variables replaced; models are looked for beside the file. `variables` replace those
// of the same names in the file. Throws Error(bad_input) with the place in the file, what was given and what
// was expected; Error(bad_model) for what is no model.
ScenarioFile read_scenario_file(const std::string& path, const std::map<std::string, std::string>& variables);

}  // namespace torchmem
