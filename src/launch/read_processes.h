// Reads what the processes of a program under `torchmem run` left in their shared folder
// (run/process_state.h).
#pragma once

#include <filesystem>

#include "run/program_processes.h"

namespace torchmem {

// Whatever state the files are in: what cannot be read is left out.
ProgramProcesses read_processes(const std::filesystem::path& directory);

}  // namespace torchmem
