// Checks PyTorch's allocator settings (the text of PYTORCH_CUDA_ALLOC_CONF) before anything runs, with better
// words than PyTorch's own. Keys and limits are PyTorch 2.11's: c10/core/AllocatorConfig.h,
// c10/cuda/CUDAAllocatorConfig.h, and what its parser was seen to accept and refuse.
#pragma once

#include <string_view>

namespace torchmem {

// Throws Error(bad_usage) showing the part that is wrong; `what` names where the text came from.
void check_alloc_conf(std::string_view text, std::string_view what);

}  // namespace torchmem
