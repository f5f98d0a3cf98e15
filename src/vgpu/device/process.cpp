#include "process.h"

#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "../../run/process_state.h"
#include "device.h"
#include "fidelity.h"

namespace torchmem::vgpu {
namespace {

// A child made by fork has a state of its own, so the process is asked for every time.
struct Shared {
  Mutex mutex;
  pid_t owner = 0;
  torchmem_process_state* mapped = nullptr;
};
Immortal<Shared> the_shared;

torchmem_process_state* mapped_state(Shared& shared) {
  const char* directory = std::getenv("TORCHMEM_RUN_DIR");
  if (!directory || !*directory) return nullptr;
  if (shared.owner != getpid()) {
    torchmem_process_state_close(shared.mapped);
    shared.mapped = torchmem_process_state_open(directory);
    shared.owner = getpid();
  }
  return shared.mapped;
}

}  // namespace

void process_uses_device(int device_count) {
  Shared& shared = the_shared.get();
  std::lock_guard<Mutex> lock(shared.mutex);
  if (torchmem_process_state* mapped = mapped_state(shared)) {
    mapped->device_used = 1;
    mapped->device_count = static_cast<uint64_t>(device_count);
  }
}

void process_counts_changed() {
  Shared& shared = the_shared.get();
  std::lock_guard<Mutex> lock(shared.mutex);
  torchmem_process_state* mapped = mapped_state(shared);
  if (!mapped) return;
  tmv_counts counts{};
  tmv_get_counts(&counts);
  mapped->unmodelled_calls = counts.unmodelled_calls;
  mapped->assumed_values = counts.assumed_values;
  mapped->estimated_workspaces = counts.estimated_workspaces + counts.unknown_workspaces;
}

}  // namespace torchmem::vgpu
