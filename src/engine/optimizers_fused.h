#pragma once

#include "engine/optimizer.h"

namespace torchmem::engine {

// What Python's torch.optim does with fused=True (2.11). Adam's step counters are device tensors. RMSprop
// has no such form, and Adagrad none on CUDA.
std::unique_ptr<Optimizer> fused_sgd(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> fused_momentum(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> fused_adam(std::vector<at::Tensor> parameters);
std::unique_ptr<Optimizer> fused_adamw(std::vector<at::Tensor> parameters);

}  // namespace torchmem::engine
