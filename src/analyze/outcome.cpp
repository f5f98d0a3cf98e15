#include "torchmem/outcome.h"

#include <utility>

namespace torchmem {

Outcome outcome_of(std::string name, Run run) {
  Outcome outcome;
  outcome.name = std::move(name);
  outcome.peak = find_peak(run);
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
