#pragma once

namespace torchmem::agent {

// Records everything that the allocator does from now on to `stream-PID` in TORCHMEM_RUN_DIR, with
// operators, Python's lines and whose each block is, if TORCHMEM_RECORD is set; returns whether it is. The
// record ends with the process; a child of fork has none.
bool start_recording();

}  // namespace torchmem::agent
