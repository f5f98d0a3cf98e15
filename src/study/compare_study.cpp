#include "study/compare_study.h"

#include <algorithm>
#include <utility>

#include "request/sizes.h"
#include "study/variants.h"
#include "torchmem/error.h"

namespace torchmem {

std::vector<Job> variant_jobs(const Job& base, const std::vector<std::string>& variants) {
  std::vector<Job> jobs;
  for (const std::string& variant : variants) {
    if (std::count(variants.begin(), variants.end(), variant) > 1)
      throw Error(ErrorKind::bad_usage, "--variant " + variant + " is given twice");
    Job job = base;
    apply_variant(job, variant);
    check_sized(job.request, "the inputs of " + job.name);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::vector<RunResult> compare(RunExecutor& executor, const std::vector<Job>& jobs) {
  std::vector<RunResult> outcomes(jobs.size());
  executor.run(jobs, [&](size_t index, Run run) {
    outcomes[index] = run_result_of(jobs[index].name, std::move(run));
  });
  return outcomes;
}

}  // namespace torchmem
