#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace torchmem::values {

// Where the device memory of a tensor's storage begins: the address of the allocator's block. 0 for what has
// none: undefined, on the CPU, sparse, empty, or a stand-in for other tensors.
std::uint64_t storage_address(const at::Tensor& tensor);

}  // namespace torchmem::values
