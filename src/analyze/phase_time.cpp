#include "analyze/phase_time.h"

namespace torchmem {

std::string name_of_phase(const Phase& phase, bool with_micro) {
  std::string name = phase.name;
  if (phase.iteration) name += ":" + std::to_string(*phase.iteration);
  if (with_micro && phase.micro) name += "." + std::to_string(*phase.micro);
  return name;
}

uint64_t events_at_end(const Phase& phase, int32_t device) {
  auto index = static_cast<size_t>(device);
  return index < phase.events.size() ? phase.events[index] : 0;
}

const Phase* phase_at(const Run& run, int32_t device, uint64_t event) {
  for (const Phase& phase : run.phases) {
    if (events_at_end(phase, device) > event) return &phase;
  }
  return nullptr;
}

}  // namespace torchmem
