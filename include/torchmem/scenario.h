// A scenario: a short program of actions on the device's memory, what each of them came to, and what was
// expected of that (docs/scenario.md). Sizes in bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// One thing that is expected of a number: "reserved_bytes", ">=", 3 GiB more than at the mark "before".
struct Expectation {
  std::string number;  // one of scenario_numbers()
  std::string comparison;
  std::string mark;  // empty: `bytes` is all
  int64_t bytes = 0;
};

// What can be expected of, and is remembered at a mark.
std::vector<std::string> scenario_numbers();

// Throws Error(bad_usage) saying what is wrong with the text, e.g. ">= 3GiB", "== @before + 16MiB", "12".
Expectation parse_expectation(const std::string& number, const std::string& text);

// With every loop unrolled.
struct ScenarioStep {
  std::string place;      // "actions[2].do[0]"
  std::string loop;       // "i=3", "epoch=0 T=64", empty outside of loops
  std::string label;      // "alloc w3 530MiB"
  nlohmann::json action;  // the engine's (engine/scenario.h); null for a step that only looks
  std::vector<Expectation> expectations;
  std::string mark;
  bool expects_out_of_memory = false;
  std::vector<size_t> lists;  // the lists of actions around it, outermost first; each turn of a loop is one
};

struct Scenario {
  std::string about;
  std::vector<ScenarioStep> steps;
};

// What the engine is given: the actions among the steps, with the positions at which they go on after an
// out-of-memory: behind the next step of the same or an outer list of actions that expects one.
nlohmann::json engine_actions(const Scenario& scenario);

struct ScenarioRow {
  const ScenarioStep* step = nullptr;
  const Phase* phase = nullptr;  // null where nothing was measured
  uint64_t peak_allocated = 0;   // so far
  uint64_t peak_reserved = 0;
  nlohmann::json out_of_memory;  // null, or the error's numbers
  std::optional<bool> met;       // of a step that expects something
  std::string problem;           // what came instead, when it was not met
};

struct ScenarioResult {
  std::vector<ScenarioRow> rows;  // of the steps that were reached
  size_t unmet = 0;
};

// `run` and `scenario` must outlive the result.
ScenarioResult scenario_result(const Scenario& scenario, const Run& run);

}  // namespace torchmem
