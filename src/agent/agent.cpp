#include <cstdio>
#include <exception>

#include "agent/compile_watch.h"
#include "agent/peaks.h"
#include "agent/writes.h"

/// Joins the program that loaded this library: called by the virtual GPU at the program's first device
/// allocation, which the caching allocator makes with its lock held, so that the allocator exists and has
/// handed out nothing yet.
extern "C" __attribute__((visibility("default"))) void torchmem_agent_start() {
  try {
    torchmem::agent::keep_peaks();
    torchmem::agent::report_writes();
    torchmem::agent::watch_for_compilation();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchmem: joining this program: %s; its peaks are not measured\n", error.what());
  }
}
