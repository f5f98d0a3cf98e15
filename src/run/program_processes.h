// What the processes of a program under `torchmem run` told of themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/process_state.h"
#include "torchmem/run.h"

namespace torchmem {

struct ProgramProcess {
  torchmem_process_state state;
  std::optional<std::vector<AssumptionRecord>> assumptions;  // absent where nobody told more than counts
};

// One line that a process left, printable.
struct ProcessNote {
  std::string pid;
  std::string text;
};

struct ProgramProcesses {
  std::vector<ProgramProcess> used;  // the device, or wanted of it what it cannot do; by process id
  std::vector<ProcessNote> hidden;   // CUDA_VISIBLE_DEVICES, which left it no device
  std::vector<ProcessNote> cleared;  // a program that was started with LD_PRELOAD cleared
  std::vector<ProcessNote> compiles;
  std::vector<ProcessNote> ended;  // by the agent, and why

  std::vector<torchmem_process_state> states() const;
};

// Whether what PyTorch's allocator did in it is known. It is not where the agent was not loaded and the
// device was used all the same.
bool is_measured(const torchmem_process_state& state);

// The most bytes that the program, or a library of its, took of the device past PyTorch's allocator.
uint64_t outside_of(const torchmem_device_state& device);

// What a process counts, whether or not an agent tells more of it.
struct CountedAssumption {
  Assumption kind;
  uint64_t torchmem_process_state::*count;
};
const std::vector<CountedAssumption>& counted_assumptions();

// What all of them assumed, each assumption with its "process", the command. What is only counted, since no
// agent told more, is an assumption without a place, named after the process.
std::vector<AssumptionRecord> assumptions_of(const ProgramProcesses& processes);

}  // namespace torchmem
