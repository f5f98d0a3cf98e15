#pragma once

namespace torchmem::agent {

// From now on what the virtual GPU has to assume goes to `assumptions-PID` in TORCHMEM_RUN_DIR, V records
// alone (capture/stream_writer.h); a child of fork has a file of its own. For a process that is not recorded.
// Once a process; does nothing on a real device or without the directory.
void write_assumptions();

}  // namespace torchmem::agent
