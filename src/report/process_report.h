// What the processes of a program under `torchmem run` told of themselves, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run/program_processes.h"

namespace torchmem {

// One object for each process that used the device, by process id:
// {"pid", "parent_pid", "command", "devices": [{"device", "peak_allocated_bytes", "peak_reserved_bytes",
// ...}], "fidelity": {...}, ...}; fidelity is assumptions_json of what its agent wrote, absent where that
// wrote nothing.
nlohmann::json processes_json(const ProgramProcesses& processes);

// The lines of the same, each starting with "torchmem: "; then those of programs that lost the virtual GPU
// because their LD_PRELOAD was cleared, of what the device could not do for them, and of those that the agent
// ended. Of what a process assumed the first few reads are told.
// `is_virtual`: it ran on the virtual GPU.
std::string processes_text(const ProgramProcesses& processes, bool is_virtual);

// How to see more than that, of what was not asked for; "" where nothing is to be seen.
std::string more_text(const ProgramProcesses& processes, bool without_json, bool without_save);

// The same as a table and the lines, as Markdown and as a page.
std::string processes_markdown(const ProgramProcesses& processes, bool is_virtual);
std::string processes_html(const ProgramProcesses& processes, bool is_virtual);

}  // namespace torchmem
