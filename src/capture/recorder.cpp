#include "capture/recorder.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <mutex>
#include <string_view>

#include "capture/assumptions.h"
#include "capture/call_site.h"
#include "capture/held.h"
#include "capture/operator_tracking.h"
#include "capture/saved_tensors.h"
#include "capture/snapshot_json.h"
#include "capture/statistics.h"
#include "capture/workspaces.h"
#include "values/virtual_device.h"

namespace torchmem::capture {
namespace {

using c10::CachingAllocator::StatType;
using c10::CachingDeviceAllocator::DeviceStats;
using c10::CachingDeviceAllocator::TraceEntry;
namespace allocator = c10::cuda::CUDACachingAllocator;

constexpr std::size_t all = static_cast<std::size_t>(StatType::AGGREGATE);

struct State {
  StreamWriter* writer = nullptr;
  std::atomic<bool> records_events{false};
  std::unique_ptr<Owners> owners;
  std::atomic<std::uint64_t> oom_request{0};  // of the last OOM event; its observers are called right after
  std::mutex oom_mutex;
  std::optional<OutOfMemory> oom;
};

State& state() {
  static auto* instance = new State;  // trackers cannot be detached
  return *instance;
}

std::int64_t clock_us(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
}

std::string_view word(TraceEntry::Action action) {
  switch (action) {
    case TraceEntry::ALLOC:
      return "alloc";
    case TraceEntry::FREE_REQUESTED:
      return "free_requested";
    case TraceEntry::FREE_COMPLETED:
      return "free_completed";
    case TraceEntry::SEGMENT_ALLOC:
      return "segment_alloc";
    case TraceEntry::SEGMENT_FREE:
      return "segment_free";
    case TraceEntry::SEGMENT_MAP:
      return "segment_map";
    case TraceEntry::SEGMENT_UNMAP:
      return "segment_unmap";
    case TraceEntry::SNAPSHOT:
      return "snapshot";
    case TraceEntry::OOM:
      return "oom";
  }
  return "unknown";
}

// Frees are many and their place is seldom asked for.
bool wants_stack(TraceEntry::Action action) {
  return action == TraceEntry::ALLOC || action == TraceEntry::SEGMENT_ALLOC ||
         action == TraceEntry::SEGMENT_MAP || action == TraceEntry::OOM;
}

// Called with the allocator's lock held: no allocation on the device, no lock that is ever held around an
// allocator call.
void on_event(const TraceEntry& entry) {
  if (entry.action_ == TraceEntry::ALLOC || entry.action_ == TraceEntry::FREE_COMPLETED) {
    // The memory has another owner, or none: what it held is nobody's any more.
    if (auto* written = values::virtual_device().written) written(entry.addr_, entry.size_);
  }
  if (entry.action_ == TraceEntry::OOM) state().oom_request = entry.size_;
  if (!state().records_events) return;
  StreamWriter& writer = *state().writer;
  Owners* owners = state().owners.get();
  AllocatorEvent event;
  event.action = word(entry.action_);
  event.device = entry.device_;  // NOLINT(bugprone-signed-char-misuse): a number
  event.address = entry.addr_;
  event.size = entry.size_;
  event.stream = reinterpret_cast<std::uint64_t>(entry.stream_);
  event.time_us = static_cast<std::uint64_t>(clock_us(CLOCK_REALTIME));
  event.stack = owners != nullptr && wants_stack(entry.action_) ? current_stack(writer) : no_stack;
  const auto event_index = writer.event(event);
  if (owners == nullptr) return;
  if (entry.action_ == TraceEntry::OOM) owners->out_of_memory();
  if (entry.action_ == TraceEntry::ALLOC) owners->allocated(entry.addr_, event_index);
  if (entry.action_ == TraceEntry::FREE_REQUESTED) owners->freed(entry.addr_);
}

// The functions that see workspaces are the program's own, or preloaded, or not there.
void hook_workspaces() {
  auto* observe = reinterpret_cast<decltype(torchmem_observe_workspaces)*>(
      dlsym(RTLD_DEFAULT, "torchmem_observe_workspaces"));
  if (observe == nullptr) return;
  observe([](const void* memory, const char* library) { state().owners->claim_workspace(memory, library); });
}

std::uint64_t largest_free_block(int device) {
  std::uint64_t largest = 0;
  for (const auto& segment : allocator::snapshot({0, 0}, false).segments) {
    if (segment.device != device) continue;
    for (const auto& block : segment.blocks) {
      if (!block.allocated && !block.active) largest = std::max<std::uint64_t>(largest, block.size);
    }
  }
  return largest;
}

// Called without the allocator's lock.
void on_out_of_memory(std::int64_t device, std::size_t segment, std::size_t limit, std::size_t device_free) {
  const DeviceStats stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
  OutOfMemory oom;
  oom.device = static_cast<int>(device);
  oom.requested_bytes = state().oom_request;
  oom.segment_bytes = segment;
  oom.limit_bytes = limit;
  oom.device_free_bytes = device_free;
  oom.allocated_bytes = static_cast<std::uint64_t>(stats.allocated_bytes[all].current);
  oom.reserved_bytes = static_cast<std::uint64_t>(stats.reserved_bytes[all].current);
  oom.largest_free_block_bytes = largest_free_block(oom.device);
  const std::lock_guard lock(state().oom_mutex);
  state().oom = oom;
}

}  // namespace

Recorder& Recorder::start(const Options& options) {
  static auto* recorder = new Recorder(options);
  return *recorder;
}

void Recorder::stop() {
  state().records_events = false;
  stop_operator_tracking();
}

Recorder::Recorder(const Options& options) : device_(options.device), in_turns_(options.in_turns) {
  state().writer = options.writer;
  const bool is_virtual = values::virtual_device().present();
  observe_virtual_device([writer = options.writer]() -> StreamWriter& { return *writer; });
  options.writer->facts(
      {{"allocator_settings", allocator_settings_json(allocator::snapshot({0, 0}, false).config_metadata)}});
  if (options.recording == Recording::owners) {
    state().owners = std::make_unique<Owners>(*options.writer, options.program);
    if (options.program) {
      call_at_python_exit([] {
        if (state().records_events) state().owners->program_ends();
      });
    } else {
      hook_saved_tensors(*state().owners);
    }
    hook_workspaces();
  }
  // A virtual device's assumptions have an operator and a line, whatever is recorded.
  if (state().owners || is_virtual) install_operator_tracking(state().owners.get(), options.program);
  allocator::get()->attachOutOfMemoryObserver(on_out_of_memory);
  state().records_events = options.recording != Recording::off;
  if (state().records_events || is_virtual) allocator::get()->attachAllocatorTraceTracker(on_event);
}

void Recorder::begin_phase(std::string name, std::optional<int> iteration, std::optional<int> micro) {
  phase_ = std::move(name);
  iteration_ = iteration;
  micro_ = micro;
  if (in_turns_) take_turns();
  allocator::resetPeakStats(static_cast<c10::DeviceIndex>(device_));
  phase_start_us_ = clock_us(CLOCK_MONOTONIC);
}

void Recorder::take_turns() {
  const bool records = iteration_.value_or(0) % 2 == 1;
  state().records_events = records;
  if (!state().owners) return;
  pause_operator_tracking(!records);
  pause_saved_tensors(!records);
}

void Recorder::end_phase() {
  write_repeats();
  c10::cuda::device_synchronize();
  const auto device = static_cast<c10::DeviceIndex>(device_);
  const double milliseconds = static_cast<double>(clock_us(CLOCK_MONOTONIC) - phase_start_us_) / 1000.0;
  const DeviceStats stats = allocator::getDeviceStats(device);
  const auto [free, total] = allocator::get()->getMemoryInfo(device);
  nlohmann::json record = summary_json(stats);
  record["phase"] = phase_;
  if (iteration_) record["iteration"] = *iteration_;
  if (micro_) record["micro"] = *micro_;
  record["duration_ms"] = milliseconds;
  record["device_bytes"] = total - free;
  record["statistics"] = statistics_json(stats);
  state().writer->phase(std::move(record));
}

void Recorder::finish() {
  write_repeats();
  if (state().owners) state().owners->finish();
  state().writer->final_snapshot(snapshot_json(allocator::snapshot({0, 0}, false)));
}

Owners* Recorder::owners() { return state().owners.get(); }

std::optional<OutOfMemory> Recorder::last_out_of_memory() const {
  const std::lock_guard lock(state().oom_mutex);
  return state().oom;
}

}  // namespace torchmem::capture
