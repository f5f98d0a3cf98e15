// What one run of many comes to: small enough to keep, whatever the length of its trace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/peak.h"
#include "torchmem/run.h"

namespace torchmem {

struct ModuleBytes {
  std::string path;    // "" is the root
  uint64_t bytes = 0;  // of blocks, with those of the modules below it
};

// A segment that the allocator held although not all of it was in use.
struct HeldSegment {
  std::string pool;  // "large pool"
  uint64_t bytes = 0;
  uint64_t free = 0;
  uint64_t blocks = 0;         // that keep it from being released
  uint64_t largest_bytes = 0;  // of these blocks; 0: nothing is in it
  std::string largest;         // whose that one is: "activations, aten::linear, fc1, model.py:9"
};

// What was reserved when most was.
struct ReservedPeak {
  std::map<std::string, uint64_t> pools;  // bytes of segments, "large pool", "small pool"
  // The same bytes by what they were for: categories, "free in segments", "freed, in use by a stream".
  std::map<std::string, uint64_t> uses;
  std::vector<HeldSegment> segments;  // those with the most free, a few
};
// Nothing where the run has no trace that fits together.
std::optional<ReservedPeak> reserved_peak_of(const Run& run);

struct RunResult {
  std::string name;  // what sets the run apart: a variant, a batch
  // Info, phases (without statistics), assumptions and error; the trace and all that belongs to it are gone.
  Run run;
  std::optional<Peak> peak;
  // At the peak of allocated, in the order of Category: they add up to it. Absent when the run has no trace,
  // or one that does not begin with an empty allocator.
  std::optional<std::array<uint64_t, category_count>> categories;
  std::vector<ModuleBytes> modules;           // at the same moment, largest first
  std::optional<ReservedPeak> reserved_peak;  // left to who wants it: it costs another walk through the trace
};

// Never throws for what is in the run.
RunResult run_result_of(std::string name, Run run);

}  // namespace torchmem
