#include "study/lever_runs.h"

#include <algorithm>

#include "study/variants.h"
#include "text/words.h"

namespace torchmem {

namespace {

int price_of(const std::string& name) {
  return std::find_if(lever_table().begin(), lever_table().end(),
                      [&](const Lever& lever) { return name == lever.name; })
      ->facts.price;
}

}  // namespace

Job LeverRuns::job_of(const LeverSet& levers) const {
  Job job = base_;
  if (!levers.empty()) apply_variant(job, joined(levers, " + "));
  return job;
}

std::vector<VariantResult> LeverRuns::run(const std::vector<LeverSet>& sets,
                                          std::optional<uint64_t> limit_bytes) {
  std::vector<Job> jobs;
  for (const LeverSet& set : sets) {
    jobs.push_back(job_of(set));
    if (limit_bytes) jobs.back().request.limit_bytes = limit_bytes;
  }
  std::vector<VariantResult> trials(jobs.size());
  executor_.run(jobs, [&](size_t index, const Run& run) {
    trials[index] = variant_result_of(jobs[index].name, run);
    trials[index].levers = sets[index];
    for (const std::string& name : sets[index]) trials[index].price += price_of(name);
  });
  return trials;
}

}  // namespace torchmem
