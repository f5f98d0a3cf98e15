#pragma once

namespace torchmem::agent {

// From now on the process's file in TORCHMEM_RUN_DIR (run/process_state.h) has, per device, the caching
// allocator's current allocated and reserved bytes, the largest they ever were (whatever the program does to
// PyTorch's own peaks) and the number of out-of-memory errors. Every change is there before the call that
// made it returns, so the numbers are right however the process ends. A child made by fork gets a file of
// its own at its first allocation.
//
// Once a process, while the allocator exists and nothing was allocated yet; may be called with the
// allocator's lock held. Does nothing without TORCHMEM_RUN_DIR. Fresh blocks are reported to the virtual GPU
// as written.
void keep_peaks();

}  // namespace torchmem::agent
