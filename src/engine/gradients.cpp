#include "engine/gradients.h"

#include <ATen/ops/_foreach_zero.h>

namespace torchmem::engine {

void fill_grads_with_zeros(const std::vector<at::Tensor>& parameters, bool foreach) {
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : parameters) {
    at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    gradient.requires_grad_(false);
    if (foreach) {
      gradients.push_back(std::move(gradient));
    } else {
      gradient.zero_();
    }
  }
  if (!gradients.empty()) at::_foreach_zero_(gradients);
}

}  // namespace torchmem::engine
