#include "agent/peaks.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Gauge.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "run/process_state.h"
#include "values/virtual_device.h"

namespace torchmem::agent {
namespace {

using c10::CachingAllocator::StatType;
using c10::CachingDeviceAllocator::TraceEntry;
namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr std::size_t all = static_cast<std::size_t>(StatType::AGGREGATE);
constexpr int no_device = -1;

std::atomic<torchmem_process_state*> the_state{nullptr};
std::atomic<bool> forked{false};
const char* directory = nullptr;  // set once, before anything else runs; null: no one to tell

// The allocator traces an allocation before it adds the block to its statistics, and sets its gauge of
// allocated bytes after: the device whose gauge this thread is about to set.
thread_local int allocating_device = no_device;

void open_state() {
  torchmem_process_state* state = torchmem_process_state_open(directory);
  if (state != nullptr) {
    __atomic_store_n(&state->device_used, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&state->agent_loaded, 1, __ATOMIC_RELAXED);
  }
  the_state.store(state);
}

// The parent's file is not the child's. A child that never allocates gets none.
void leave_parents_state() {
  torchmem_process_state_close(the_state.exchange(nullptr));
  forked = true;
}

void store(std::uint64_t& place, std::int64_t value) {
  __atomic_store_n(&place, static_cast<std::uint64_t>(value), __ATOMIC_RELAXED);
}

// Every writer of a device's numbers holds that device's allocator lock.
void raise_to(std::uint64_t& peak, std::int64_t value) {
  if (static_cast<std::uint64_t>(value) > __atomic_load_n(&peak, __ATOMIC_RELAXED)) store(peak, value);
}

void sample(int device) {
  torchmem_process_state* state = the_state.load(std::memory_order_relaxed);
  if (state == nullptr || device < 0 || device >= TORCHMEM_PROCESS_STATE_DEVICES) return;
  const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
  const auto& allocated = stats.allocated_bytes[all];
  const auto& reserved = stats.reserved_bytes[all];
  torchmem_device_state& numbers = state->devices[device];
  store(numbers.used, 1);
  store(numbers.allocated, allocated.current);
  store(numbers.reserved, reserved.current);
  raise_to(numbers.peak_allocated, allocated.peak);
  raise_to(numbers.peak_reserved, reserved.peak);
}

// Called with the allocator's lock held.
void on_event(const TraceEntry& entry) {
  if (entry.action_ == TraceEntry::ALLOC || entry.action_ == TraceEntry::FREE_COMPLETED) {
    // The memory has another owner, or none: what it held is nobody's any more.
    if (auto* written = values::virtual_device().written) written(entry.addr_, entry.size_);
  }
  if (entry.action_ == TraceEntry::SEGMENT_ALLOC) {
    if (auto* claimed = values::virtual_device().claimed) claimed(entry.addr_);
  }
  if (entry.action_ == TraceEntry::FREE_COMPLETED || entry.action_ == TraceEntry::SNAPSHOT)
    return;  // changes neither number
  if (entry.action_ == TraceEntry::ALLOC) allocating_device = entry.device_;
  if (entry.action_ != TraceEntry::FREE_REQUESTED && forked.load(std::memory_order_relaxed) &&
      forked.exchange(false))
    open_state();
  sample(entry.device_);
  torchmem_process_state* state = the_state.load(std::memory_order_relaxed);
  if (entry.action_ == TraceEntry::OOM && state != nullptr && entry.device_ < TORCHMEM_PROCESS_STATE_DEVICES)
    __atomic_fetch_add(&state->devices[entry.device_].out_of_memory, 1, __ATOMIC_RELAXED);
}

class AllocatedBytes : public c10::monitor::detail::GaugeBackendIf {
 public:
  void record(std::int64_t) noexcept override {
    if (allocating_device == no_device) return;
    sample(allocating_device);
    allocating_device = no_device;
  }
};

class Gauges : public c10::monitor::detail::GaugeBackendFactoryIf {
 public:
  std::unique_ptr<c10::monitor::detail::GaugeBackendIf> create(std::string_view key) noexcept override {
    if (key == "pytorch.CUDACachingAllocator.allocated_bytes") return std::make_unique<AllocatedBytes>();
    return nullptr;
  }
};

}  // namespace

void keep_peaks() {
  allocator::get()->attachAllocatorTraceTracker(
      on_event);  // first: an allocator that refuses is not measured
  if (const char* given = std::getenv("TORCHMEM_RUN_DIR"); given != nullptr && *given != '\0') {
    directory = strdup(given);  // kept: the program may change its environment
    open_state();
    pthread_atfork(nullptr, nullptr, leave_parents_state);
    c10::monitor::detail::registerGaugeBackend(std::make_unique<Gauges>());
  }
}

}  // namespace torchmem::agent
