// Runs of a base job with sets of levers pulled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/run_executor.h"
#include "torchmem/advice.h"

namespace torchmem {

using LeverSet = std::vector<std::string>;  // names of lever_table, none twice

class LeverRuns {
 public:
  // Both must live as long.
  LeverRuns(const Job& base, RunExecutor& executor) : base_(base), executor_(executor) {}

  // The base job with them pulled; none: the base job itself.
  Job job_of(const LeverSet& levers) const;

  // What came of each set, in their order, with its levers and what they cost together. `limit_bytes`: what
  // the allocator may reserve.
  std::vector<VariantResult> run(const std::vector<LeverSet>& sets, std::optional<uint64_t> limit_bytes = {});

 private:
  const Job& base_;
  RunExecutor& executor_;
};

}  // namespace torchmem
