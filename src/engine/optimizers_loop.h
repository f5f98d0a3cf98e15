#pragma once

#include "engine/optimizer.h"

namespace torchmem::engine {

// LibTorch's own optimizers (torch/optim), one parameter at a time.
std::unique_ptr<Optimizer> loop_sgd(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> loop_momentum(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> loop_adam(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> loop_adamw(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> loop_rmsprop(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> loop_adagrad(std::vector<at::Tensor> parameters);

}  // namespace torchmem::engine
