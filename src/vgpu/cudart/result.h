#pragma once

#include <cuda_runtime_api.h>

namespace torchmem::vgpu {

// Keeps an error as the thread's last one, as every runtime call does, and returns it.
cudaError_t result(int status);

}  // namespace torchmem::vgpu
