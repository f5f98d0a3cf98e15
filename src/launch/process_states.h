// What the processes of a program under `torchmem run` counted of themselves, each in a file of their shared
// folder (run/process_state.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "run/process_state.h"

namespace torchmem {

// Of each process that used the device, or wanted of it what it cannot do, by process id.
std::vector<torchmem_process_state> process_states(const std::filesystem::path& directory);

// Whether what PyTorch's allocator did in it is known. It is not where the agent was not loaded and the
// device was used all the same.
bool is_measured(const torchmem_process_state& state);

// The most bytes that the program, or a library of its, took of the device past PyTorch's allocator.
uint64_t outside_of(const torchmem_device_state& device);

}  // namespace torchmem
