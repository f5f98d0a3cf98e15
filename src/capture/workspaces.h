#pragma once

#include "capture/owners.h"

namespace torchmem::capture {

/// From now on, memory that PyTorch hands to cuBLAS, cuBLASLt or cuDNN as a workspace is told to `owners`: by
/// the call, which is seen because a program's own functions come before a library's of the same name. Works
/// in a program that exports the functions defined here (torchmem-engine), whatever libraries stand behind.
void watch_workspaces(Owners& owners);

}  // namespace torchmem::capture
