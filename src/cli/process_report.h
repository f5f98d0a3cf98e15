// What the processes of a program under `torchmem run` left in their shared folder (run/process_state.h), as
// lines for people.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// One object for each process that used the device, by process id:
// {"pid", "parent_pid", "command", "devices": [{"device", "peak_allocated_bytes", "peak_reserved_bytes",
// ...}], "fidelity": {...}, ...}; fidelity is assumptions_json of what its agent wrote, absent where that
// wrote nothing.
nlohmann::json processes_json(const std::filesystem::path& directory);

// The lines of the same, each starting with "torchmem: "; then those of programs that lost the virtual GPU
// because their LD_PRELOAD was cleared, of what the device could not do for them, and of those that the agent
// ended. Of what a process assumed the first few reads are told.
// `is_virtual`: it ran on the virtual GPU.
std::string processes_text(const std::filesystem::path& directory, bool is_virtual);

// The same as a table and the lines, as Markdown and as a page.
std::string processes_markdown(const std::filesystem::path& directory, bool is_virtual);
std::string processes_html(const std::filesystem::path& directory, bool is_virtual);

// What all of them assumed, each assumption with its "process", the command. What is only counted, since no
// agent told more, is an assumption without a place, named after the process.
std::vector<AssumptionRecord> program_assumptions(const std::filesystem::path& directory);

// A process that the agent ended since it had read too many assumed values.
struct EndedProcess {
  std::string pid;
  std::string reason;
};
std::vector<EndedProcess> ended_processes(const std::filesystem::path& directory);

}  // namespace torchmem
