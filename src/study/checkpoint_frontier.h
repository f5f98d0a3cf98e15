// The way from checkpointing one module to checkpointing all: what each step saves, and what runs twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/run_executor.h"
#include "torchmem/advice.h"

namespace torchmem {

// A module that checkpointing may choose.
struct CheckpointModule {
  std::string path;
  size_t leaves = 0;  // innermost modules in it
  double worth = 0;   // bytes that checkpointing it alone saves, for each of these
};

// Puts those first that save most by themselves against `allocated`, the base job's peak, for what runs
// twice; equal ones stay in their order. Leaves the order alone where there are too many to be run one by
// one, or the peak is not known.
void order_blocks(std::vector<CheckpointModule>& blocks, std::optional<uint64_t> allocated, const Job& base,
                  RunExecutor& executor);

// A few points with the first blocks checkpointed, from one to all of them. `leaves`: innermost modules that
// the forward calls.
std::vector<FrontierPoint> run_frontier(const std::vector<CheckpointModule>& blocks, size_t leaves,
                                        const Job& base, RunExecutor& executor);

}  // namespace torchmem
