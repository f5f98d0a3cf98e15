#pragma once

#include "engine/optimizer.h"

namespace torchmem::engine {

// What Python's torch.optim does with foreach=True (2.11): the same operators in the same order, the same
// temporaries, held as long. Steps are counted in CPU tensors.
std::unique_ptr<Optimizer> foreach_sgd(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> foreach_momentum(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> foreach_adam(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> foreach_adamw(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> foreach_rmsprop(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> foreach_adagrad(std::vector<at::Tensor> parameters);

}  // namespace torchmem::engine
