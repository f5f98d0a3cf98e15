// What a loop of a scenario file goes through.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "request/scenario_fields.h"

namespace torchmem {

// That a scenario may come to, loops unrolled.
constexpr size_t most_scenario_steps = 100'000;

// The values of an action "repeat", one for each turn; lengths are rounded up as its "pad" or "bucket" say.
std::vector<std::string> loop_values(const ScenarioFields& fields, const nlohmann::json& object,
                                     const std::string& place);

}  // namespace torchmem
