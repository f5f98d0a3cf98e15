#include "torchmem/run_result.h"

#include <algorithm>
#include <utility>

#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/point.h"

namespace torchmem {

namespace {

void add_modules(const ModuleUsage& module, std::vector<ModuleBytes>& modules) {
  if (module.own > 0) modules.push_back({module.path, module.own});
  for (const ModuleUsage& child : module.children) add_modules(child, modules);
}

void add_owners(const Run& run, RunResult& outcome) {
  int32_t device = run.main_device();
  if (static_cast<size_t>(device) >= run.traces.size() || run.traces[static_cast<size_t>(device)].empty())
    return;
  try {
    BlockHistory history(run, device);
    Breakdown peak = break_down(run, history, device, find_point(run, history, device, "peak"));
    std::array<uint64_t, category_count> categories{};
    for (size_t i = 0; i < category_count; ++i) categories[i] = peak.categories[i].bytes;
    outcome.categories = categories;
    add_modules(peak.root, outcome.modules);
    std::stable_sort(outcome.modules.begin(), outcome.modules.end(),
                     [](const ModuleBytes& a, const ModuleBytes& b) { return a.bytes > b.bytes; });
  } catch (const Error&) {
    // A trace that does not fit together has no owners; its peaks are the allocator's own.
  }
}

}  // namespace

RunResult run_result_of(std::string name, Run run) {
  RunResult outcome;
  outcome.name = std::move(name);
  outcome.peak = find_peak(run);
  add_owners(run, outcome);
  run.traces.clear();
  run.stacks.clear();
  run.tensors.clear();
  run.segments.clear();
  run.external_annotations = nlohmann::json::array();
  for (Phase& phase : run.phases) phase.statistics = nullptr;
  outcome.run = std::move(run);
  return outcome;
}

}  // namespace torchmem
