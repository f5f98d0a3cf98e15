// Runs of a program's processes as files.
#pragma once

#include <string>
#include <vector>

#include "launch/process_records.h"

namespace torchmem {

// Writes the first run to `path` and the others beside it, with the process id before the extension
// ("run.1234.pickle"); says on standard error which is where, if there are several or none.
void save_process_records(const std::vector<ProcessRecord>& records, const std::string& path);

}  // namespace torchmem
