#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace torchmem::engine {

// `optimizer.zero_grad(set_to_none=False)`: gradients stay and are filled with zeros, one at a time or, as
// Python's optimizers on CUDA do, all by one foreach operator.
void fill_grads_with_zeros(const std::vector<at::Tensor>& parameters, bool foreach);

}  // namespace torchmem::engine
