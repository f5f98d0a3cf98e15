#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torchmem::engine {

// One optimizer over one group of parameters, learning rate 1e-3, everything else at PyTorch's defaults.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // Updates every parameter that has a gradient. State is created in the first step (Adagrad: at
  // construction), as PyTorch does.
  virtual void step() = 0;
  // Releases the gradients.
  void zero_grad();
  // Calls `visit` with each tensor of the state that exists by now: its name in PyTorch ("exp_avg"), the
  // parameter that it belongs to, the tensor.
  using VisitState =
      std::function<void(const char* name, const at::Tensor& parameter, const at::Tensor& state)>;
  virtual void visit_state(const VisitState& visit) const = 0;

 protected:
  explicit Optimizer(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {}

  // For state kept by parameter: one tensor each, or a struct of them.
  void visit_tensors(const std::unordered_map<const void*, at::Tensor>& states, const char* name,
                     const VisitState& visit) const {
    for (const auto& parameter : parameters_) {
      const auto found = states.find(parameter.unsafeGetTensorImpl());
      if (found != states.end() && found->second.defined()) visit(name, parameter, found->second);
    }
  }
  template <class State>
  void visit_members(const std::unordered_map<const void*, State>& states,
                     std::initializer_list<std::pair<const char*, at::Tensor State::*>> members,
                     const VisitState& visit) const {
    for (const auto& parameter : parameters_) {
      const auto found = states.find(parameter.unsafeGetTensorImpl());
      if (found == states.end()) continue;
      for (const auto& [name, member] : members) {
        if ((found->second.*member).defined()) visit(name, parameter, found->second.*member);
      }
    }
  }

  std::vector<at::Tensor> parameters_;
};

// How an optimizer goes over its parameters: loop = LibTorch's own C++ optimizers, one parameter at a time;
// foreach and fused = what Python's torch.optim does on CUDA with foreach=True (its default there) and
// fused=True.
using MakeOptimizer = std::unique_ptr<Optimizer> (*)(std::vector<at::Tensor> parameters);

struct OptimizerForm {
  const char* optimizer;  // sgd, momentum (SGD with momentum 0.9), adam, adamw, rmsprop, adagrad
  const char* form;       // loop, foreach, fused
  MakeOptimizer make;
};

const std::vector<OptimizerForm>& optimizer_forms();

// Throws Failure (bad_usage) listing the optimizers, or the forms that this optimizer has.
const OptimizerForm& find_optimizer(const std::string& optimizer, const std::string& form);

}  // namespace torchmem::engine
