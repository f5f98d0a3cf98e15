// Runs of a program's processes as files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "launch/process_records.h"

namespace torchmem {

// Writes the first run where the output says and the others beside it, with the process id before the
// extension ("run.1234.pickle"); says on standard error which is where, if there are several or none.
// Standard output has the first alone.
void write_process_records(const std::vector<ProcessRecord>& records, const OutputPath& output,
                           const std::function<std::string(const Run&)>& content);

}  // namespace torchmem
