#pragma once

namespace torchmem::agent {

// Ends the process with exit code 2 when it has read more assumed values than TORCHMEM_MAX_ASSUMED_READS
// allows; the reason is left in `ended-PID` in TORCHMEM_RUN_DIR and said on standard error. `finish` is
// called first, so that what was recorded is whole.
void end_at_limit(void (*finish)());

}  // namespace torchmem::agent
