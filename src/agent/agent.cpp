#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>
#include <cstdio>
#include <exception>

#include "agent/assumptions_file.h"
#include "agent/compile_hook.h"
#include "agent/peaks.h"
#include "agent/recording.h"
#include "values/virtual_device.h"

namespace {

void cannot_join(const char* why) {
  std::fprintf(stderr, "torchmem: joining this program: %s; its peaks are not measured\n", why);
}

void cannot_record(const char* why) {
  std::fprintf(stderr, "torchmem: recording this program: %s; only its peaks are told\n", why);
}

}  // namespace

// Joins the program that loaded this library, once PyTorch's allocator is there: to be called at each device
// allocation until it returns true. That may be with the allocator's lock held, before the allocation is in
// its statistics.
extern "C" __attribute__((visibility("default"))) bool torchmem_agent_start() {
  static std::atomic<bool> joined{false};
  auto* allocator = c10::cuda::CUDACachingAllocator::get();
  if (allocator == nullptr || !allocator->initialized()) return false;
  if (joined.exchange(true)) return true;
  try {
    torchmem::agent::keep_peaks();
  } catch (const c10::Error& error) {
    cannot_join(error.what_without_backtrace());
    return true;
  } catch (const std::exception& error) {
    cannot_join(error.what());
    return true;
  }
  try {
    if (auto* keep_large = torchmem::values::virtual_device().keep_large) keep_large();
    if (!torchmem::agent::start_recording()) torchmem::agent::write_assumptions();
    torchmem::agent::hook_compilation();
  } catch (const c10::Error& error) {
    cannot_record(error.what_without_backtrace());
  } catch (const std::exception& error) {
    cannot_record(error.what());
  }
  return true;
}
