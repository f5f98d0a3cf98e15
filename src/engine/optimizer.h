#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace torchmem::engine {

/// One optimizer over one group of parameters, learning rate 1e-3, everything else at PyTorch's defaults.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Updates every parameter that has a gradient. State is created in the first step (Adagrad: at
  /// construction), as PyTorch does.
  virtual void step() = 0;
  /// Releases the gradients.
  void zero_grad();

 protected:
  explicit Optimizer(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}
  std::vector<at::Tensor> parameters_;
};

/// How an optimizer goes over its parameters: loop = LibTorch's own C++ optimizers, one parameter at a time;
/// foreach and fused = what Python's torch.optim does on CUDA with foreach=True (its default there) and
/// fused=True.
using MakeOptimizer = std::unique_ptr<Optimizer> (*)(std::vector<at::Tensor> parameters);

struct OptimizerForm {
  const char* optimizer;  // sgd, momentum (SGD with momentum 0.9), adam, adamw, rmsprop, adagrad
  const char* form;       // loop, foreach, fused
  MakeOptimizer make;
};

const std::vector<OptimizerForm>& optimizer_forms();

/// Throws Failure (bad_usage) listing the optimizers, or the forms that this optimizer has.
const OptimizerForm& find_optimizer(const std::string& optimizer, const std::string& form);

}  // namespace torchmem::engine
