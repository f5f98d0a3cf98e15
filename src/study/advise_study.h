// What lowers a model's peak: runs every lever that applies by itself, the best of them together, and looks
// for the cheapest set that keeps within a goal.
#pragma once

#include <cstdint>
#include <optional>

#include "launch/run_executor.h"
#include "torchmem/advice.h"

namespace torchmem {

struct AdviseAnswer {
  Run base;  // for its info, and its error
  Advice advice;
  // What was not measured until then is not in the advice.
  bool is_interrupted = false;

  // Whether nothing else was run: the base run failed, and not for want of memory.
  bool has_failed() const { return base.error && base.error->kind != ErrorKind::out_of_memory; }
};

// `base` is run as it is. `goal_bytes`: what the allocator may reserve, to look for the cheapest set of
// levers that runs within it.
AdviseAnswer run_advise(const Job& base, std::optional<uint64_t> goal_bytes, RunExecutor& executor);

}  // namespace torchmem
