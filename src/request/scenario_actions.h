// The actions of a scenario file but for its loops: each is checked by what came before it, and is one step.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "request/scenario_fields.h"
#include "request/scenario_file.h"
#include "request/scenario_names.h"

namespace torchmem {

// How far a file has been read.
struct ScenarioReading {
  const std::string& path;  // models are looked for beside it
  ScenarioFields fields;
  ScenarioNames names{fields};
  std::set<std::string> marks;
  std::vector<std::pair<std::string, std::string>>
      loops;                  // around the action: name and value, outermost first
  std::vector<size_t> lists;  // as ScenarioStep has them
  ScenarioFile file = {};
};

// Adds the step of an action at `place` to the file. Throws as read_scenario_file does.
void read_action(ScenarioReading& in, const nlohmann::json& object, const std::string& place);

}  // namespace torchmem
