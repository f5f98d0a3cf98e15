// What the processes of a program under `torchmem run` left in their shared folder (run/process_state.h), as
// lines for people.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace torchmem::cli {

// One object for each process that used the device, by process id:
// {"pid", "parent_pid", "command", "devices": [{"device", "peak_allocated_bytes", "peak_reserved_bytes",
// ...}], ...}
nlohmann::json processes_json(const std::filesystem::path& directory);

// The lines of the same, each starting with "torchmem: "; then those of programs that lost the virtual GPU
// because their LD_PRELOAD was cleared, and of what the device could not do for them.
std::string processes_text(const std::filesystem::path& directory);

}  // namespace torchmem::cli
