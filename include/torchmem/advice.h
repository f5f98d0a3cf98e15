// What levers do to a run's peak: each was run by itself and measured. Sizes in bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// One run with some levers pulled.
struct VariantResult {
  std::string name;
  std::vector<std::string> levers;
  int price = 0;                      // of all of them
  std::optional<uint64_t> allocated;  // the peaks of the whole run
  std::optional<uint64_t> reserved;
  std::string phase;  // of the allocated peak, e.g. "backward of iteration 1"
  std::optional<uint64_t> allocated_after_load;
  std::optional<RunError> error;
  nlohmann::json rewritten;  // what the engine rewrote in the model, null if nothing
  bool decided = false;      // by assumed values: a GPU may run something else
};

// Everything that is kept of a run. Never throws for what is in it.
VariantResult variant_result_of(std::string name, const Run& run);

struct LeverResult {
  std::string group;
  std::string cost;
  std::string code;
  std::string why_not;   // it does not apply: nothing was run
  nlohmann::json check;  // the engine's comparison on the CPU, null where none is needed
  VariantResult trial;
};

enum class Verdict { saves, does_nothing, harms, fails, does_not_apply };
std::string_view name_of(Verdict verdict);

// By the allocated peak; by the reserved one where that is the same. A failed check is `fails`. Below one
// part in a thousand of the base is nothing.
Verdict verdict_of(const LeverResult& lever, const VariantResult& base);

// What is saved against the base; negative: it costs. Nothing where one of the two was not measured.
std::optional<int64_t> saved(const std::optional<uint64_t>& base, const std::optional<uint64_t>& now);

struct FrontierPoint {
  std::vector<std::string> modules;
  size_t of = 0;     // how many there are
  double share = 0;  // of the forward's innermost modules that run twice, 0 to 1
  VariantResult trial;
};

struct Goal {
  uint64_t limit_bytes = 0;
  std::optional<VariantResult> cheapest;  // the first in the order of prices that ran within the limit
  size_t tried = 0;
};

struct Advice {
  VariantResult base;
  std::vector<LeverResult> levers;          // best first
  std::vector<VariantResult> combinations;  // pairs, then the greedy one; best first
  std::vector<FrontierPoint> frontier;      // of checkpointing, from fewest modules to all
  std::optional<Goal> goal;
};

// Best first: most saved of allocated, then of reserved, then the cheaper one; what fails or does not apply
// last.
void rank(Advice& advice);

// Sets of levers to try for a goal, by price, then by size: those of different groups that save something,
// whose savings together could come below the limit.
std::vector<std::vector<std::string>> goal_candidates(const Advice& advice, uint64_t limit_bytes,
                                                      size_t most);

}  // namespace torchmem
