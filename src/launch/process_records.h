// The records that the agent made of a program's processes, as runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "launch/device_choice.h"
#include "torchmem/run.h"

namespace torchmem {

struct ProcessRecord {
  long pid = 0;
  Run run;
};

// Of each process that used the device, by process id. `program` is told in the runs' info. A record that
// cannot be read is left out, and said on standard error.
std::vector<ProcessRecord> read_process_records(const std::filesystem::path& directory,
                                                const std::vector<std::string>& program,
                                                const DeviceChoice& device);

}  // namespace torchmem
