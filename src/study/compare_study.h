// Variants of a run, side by side.
#pragma once

#include <string>
#include <vector>

#include "launch/run_executor.h"
#include "torchmem/run_result.h"

namespace torchmem {

// The run as each variant has it, named after it. Throws Error(bad_usage) for a variant that there is not, or
// that is given twice, and for inputs that have a dimension without a size.
std::vector<Job> variant_jobs(const Job& base, const std::vector<std::string>& variants);

// What each comes to, in the jobs' order; a trace is kept no longer than it takes to look at it.
std::vector<RunResult> compare(RunExecutor& executor, const std::vector<Job>& jobs);

}  // namespace torchmem
