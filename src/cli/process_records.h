// The records that the agent made of a program's processes, as runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/device_choice.h"
#include "torchmem/run.h"

namespace torchmem::cli {

struct ProcessRecord {
  long pid = 0;
  Run run;
};

// Of each process that used the device, by process id. `program` is told in the runs' facts. A record that
// cannot be read is left out, and said on standard error.
std::vector<ProcessRecord> read_process_records(const std::filesystem::path& directory,
                                                const std::vector<std::string>& program,
                                                const DeviceChoice& device);

// Writes the first run to `path` and the others beside it, with the process id before the extension
// ("run.1234.pickle"); says on standard error which is where, if there are several or none.
void save_process_records(const std::vector<ProcessRecord>& records, const std::string& path);

}  // namespace torchmem::cli
