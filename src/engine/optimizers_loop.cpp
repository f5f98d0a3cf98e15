#include "engine/optimizers_loop.h"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

namespace torchmem::engine {
namespace {

constexpr double learning_rate = 1e-3;

using torch::optim::OptimizerParamState;

// A tensor of a LibTorch optimizer's state, by its name.
template <class State>
struct StateTensor {
  const char* name;
  const at::Tensor& (State::*get)() const;
};

template <class Torch>
struct StateOf;

template <class Adam>
struct AdamStateOf {
  static constexpr StateTensor<Adam> tensors[] = {
      {"exp_avg", &Adam::exp_avg},
      {"exp_avg_sq", &Adam::exp_avg_sq},
      {"max_exp_avg_sq", &Adam::max_exp_avg_sq},
  };
};

template <>
struct StateOf<torch::optim::Adam> : AdamStateOf<torch::optim::AdamParamState> {};
template <>
struct StateOf<torch::optim::AdamW> : AdamStateOf<torch::optim::AdamWParamState> {};

template <>
struct StateOf<torch::optim::SGD> {
  using State = torch::optim::SGDParamState;
  static constexpr StateTensor<State> tensors[] = {{"momentum_buffer", &State::momentum_buffer}};
};

template <>
struct StateOf<torch::optim::RMSprop> {
  using State = torch::optim::RMSpropParamState;
  static constexpr StateTensor<State> tensors[] = {
      {"square_avg", &State::square_avg},
      {"momentum_buffer", &State::momentum_buffer},
      {"grad_avg", &State::grad_avg},
  };
};

template <>
struct StateOf<torch::optim::Adagrad> {
  using State = torch::optim::AdagradParamState;
  static constexpr StateTensor<State> tensors[] = {{"sum", &State::sum}};
};

template <class State, std::size_t Count>
void visit_state_of(const OptimizerParamState& state, const StateTensor<State> (&tensors)[Count],
                    const at::Tensor& parameter, const Optimizer::VisitState& visit) {
  for (const auto& entry : tensors) {
    const at::Tensor& tensor = (static_cast<const State&>(state).*entry.get)();
    if (tensor.defined()) visit(entry.name, parameter, tensor);
  }
}

template <class Torch>
class LoopOptimizer : public Optimizer {
 public:
  template <class Options>
  LoopOptimizer(std::vector<at::Tensor> parameters, const Options& options)
      : Optimizer(parameters), optimizer_(std::move(parameters), options) {}
  void step() override { optimizer_.step(); }

  void visit_state(const VisitState& visit) const override {
    for (const auto& parameter : parameters_) {
      const auto found = optimizer_.state().find(parameter.unsafeGetTensorImpl());
      if (found != optimizer_.state().end())
        visit_state_of(*found->second, StateOf<Torch>::tensors, parameter, visit);
    }
  }

 private:
  Torch optimizer_;
};

template <class Torch, class Options>
std::unique_ptr<Optimizer> make(std::vector<at::Tensor> parameters, const Options& options) {
  return std::make_unique<LoopOptimizer<Torch>>(std::move(parameters), options);
}

}  // namespace

std::unique_ptr<Optimizer> loop_sgd(std::vector<at::Tensor> parameters) {
  return make<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(learning_rate));
}

std::unique_ptr<Optimizer> loop_momentum(std::vector<at::Tensor> parameters) {
  return make<torch::optim::SGD>(std::move(parameters),
                                 torch::optim::SGDOptions(learning_rate).momentum(0.9));
}

std::unique_ptr<Optimizer> loop_adam(std::vector<at::Tensor> parameters) {
  return make<torch::optim::Adam>(std::move(parameters), torch::optim::AdamOptions(learning_rate));
}

std::unique_ptr<Optimizer> loop_adamw(std::vector<at::Tensor> parameters) {
  return make<torch::optim::AdamW>(std::move(parameters), torch::optim::AdamWOptions(learning_rate));
}

std::unique_ptr<Optimizer> loop_rmsprop(std::vector<at::Tensor> parameters) {
  return make<torch::optim::RMSprop>(std::move(parameters), torch::optim::RMSpropOptions(learning_rate));
}

std::unique_ptr<Optimizer> loop_adagrad(std::vector<at::Tensor> parameters) {
  return make<torch::optim::Adagrad>(std::move(parameters), torch::optim::AdagradOptions(learning_rate));
}

}  // namespace torchmem::engine
