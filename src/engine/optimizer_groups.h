#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace torchmem::engine {

// Positions of the tensors of each device and type, the groups in the order in which torch.optim goes over
// them.
std::vector<std::vector<std::size_t>> group_by_device_and_dtype(const std::vector<at::Tensor>& tensors);

// The tensors at these positions, complex ones seen as real.
std::vector<at::Tensor> pick(const std::vector<at::Tensor>& tensors,
                             const std::vector<std::size_t>& positions);

}  // namespace torchmem::engine
