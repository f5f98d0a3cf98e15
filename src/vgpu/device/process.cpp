#include "process.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../../run/process_state.h"
#include "assumptions.h"
#include "device.h"

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

void raise_to(uint64_t& peak, uint64_t value) {
  if (value > __atomic_load_n(&peak, __ATOMIC_RELAXED)) __atomic_store_n(&peak, value, __ATOMIC_RELAXED);
}

// Adds to the note `<kind>-<pid>`. What cannot be written is lost: the program must not suffer.
void add_note(const char* kind, const char* text) {
  const char* directory = std::getenv("TORCHMEM_RUN_DIR");
  char path[4096];
  if (!directory || !*directory ||
      std::snprintf(path, sizeof path, "%s/%s-%ld", directory, kind, static_cast<long>(getpid())) >=
          static_cast<int>(sizeof path))
    return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  const ssize_t written = write(file, text, std::strlen(text));
  (void)written;
  close(file);
}

constexpr int most_calls = 1000;  // that are noted; all are counted

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

void process_allocated() {
  Shared& shared = the_shared.get();
  std::lock_guard<Mutex> lock(shared.mutex);
  if (torchmem_process_state* mapped = mapped_state(shared)) mapped->allocated = 1;
}

void process_outside(int device, uint64_t settled, uint64_t now) {
  Shared& shared = the_shared.get();
  std::lock_guard<Mutex> lock(shared.mutex);
  torchmem_process_state* mapped = mapped_state(shared);
  if (!mapped || device < 0 || device >= TORCHMEM_PROCESS_STATE_DEVICES) return;
  torchmem_device_state& numbers = mapped->devices[device];
  raise_to(numbers.peak_outside, settled);
  __atomic_store_n(&numbers.outside, now, __ATOMIC_RELAXED);
}

void process_pins(uint64_t bytes) {
  Shared& shared = the_shared.get();
  std::lock_guard<Mutex> lock(shared.mutex);
  if (torchmem_process_state* mapped = mapped_state(shared)) raise_to(mapped->peak_pinned, bytes);
}

void process_has_no_device() {
  static std::atomic<pid_t> noted{0};
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible && noted.exchange(getpid()) != getpid()) add_note("hidden", visible);
}

void process_called(const char* library, const char* function) {
  static std::atomic<int> calls{0};
  char record[512];
  if (calls.fetch_add(1, std::memory_order_relaxed) >= most_calls ||
      std::snprintf(
          record, sizeof record,
          "V {\"kind\":\"unmodelled_call\",\"name\":\"%s\",\"problem\":\"%s\",\"count\":1,\"bytes\":0}\n",
          function, library) >= static_cast<int>(sizeof record))
    return;
  add_note("calls", record);
}

}  // namespace torchmem::vgpu
