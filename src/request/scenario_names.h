// The names that a scenario's actions have given to things by one point of it. Refusals are ScenarioFields'.
#pragma once

#include <initializer_list>
#include <map>
#include <string>

#include "request/scenario_fields.h"

namespace torchmem {

enum class Thing { model, optimizer, value, list };

class ScenarioNames {
 public:
  // `fields` must outlive this.
  explicit ScenarioNames(const ScenarioFields& fields) : fields_(fields) {}
  ScenarioNames(const ScenarioNames&) = delete;

  // A name that something of these kinds must have by now.
  std::string used(const std::string& name, const std::string& place,
                   std::initializer_list<Thing> wanted) const;
  // The name that an action's "as" gives; of the same kind it may be given again.
  std::string made(const nlohmann::json& action, const std::string& place, Thing thing);
  // A list, which is made by its first use.
  std::string list(const std::string& name, const std::string& place);
  void release(const std::string& name);

 private:
  const ScenarioFields& fields_;
  std::map<std::string, Thing> things_;
};

}  // namespace torchmem
