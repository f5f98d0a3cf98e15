// What one run of many comes to: small enough to keep, whatever the length of its trace.
#pragma once

#include <array>
#include <cstdint>
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

struct Outcome {
  std::string name;  // what sets the run apart: a variant, a batch
  // Facts, phases (without statistics), findings and error; the trace and all that belongs to it are gone.
  Run run;
  std::optional<Peak> peak;
  // At the peak of allocated, in the order of Category: they add up to it. Absent when the run has no trace,
  // or one that does not begin with an empty allocator.
  std::optional<std::array<uint64_t, category_count>> categories;
  std::vector<ModuleBytes> modules;  // at the same moment, largest first
};

// Never throws for what is in the run.
Outcome outcome_of(std::string name, Run run);

}  // namespace torchmem
