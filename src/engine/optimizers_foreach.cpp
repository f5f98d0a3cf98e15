#include "engine/optimizers_foreach.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcdiv.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_div.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_sqrt.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <unordered_map>

#include "engine/optimizer_groups.h"

namespace torchmem::engine {
namespace {

constexpr double learning_rate = 1e-3;

using Tensors = std::vector<at::Tensor>;

at::Tensor cpu_step() { return at::scalar_tensor(0.0, at::TensorOptions().dtype(at::kFloat)); }

void count_step(const Tensors& steps) { at::_foreach_add_(steps, at::scalar_tensor(1.0), /*alpha=*/1.0); }

// Collects the parameters that have gradients, and hands each group of one device and type to `step_group`.
class ForeachOptimizer : public Optimizer {
 public:
  explicit ForeachOptimizer(Tensors parameters) : Optimizer(std::move(parameters)) {}

  void step() override {
    const at::NoGradGuard no_grad;
    Tensors parameters;
    Tensors gradients;
    for (const auto& parameter : parameters_) {
      if (!parameter.grad().defined()) continue;
      parameters.push_back(parameter);
      gradients.push_back(parameter.grad());
      prepare(parameter);
    }
    for (const auto& positions : group_by_device_and_dtype(parameters)) {
      Tensors keys;
      for (const auto position : positions) keys.push_back(parameters[position]);
      step_group(keys, pick(parameters, positions), pick(gradients, positions));
    }
    release_temporaries();
  }

 protected:
  // Creates the state of a parameter that has none.
  virtual void prepare(const at::Tensor& parameter) = 0;
  // `keys` are the parameters that the state is found by.
  virtual void step_group(const Tensors& keys, const Tensors& parameters, const Tensors& gradients) = 0;
  // In Python a group's temporaries live until the next group's replace them, the last one's until the step
  // returns.
  virtual void release_temporaries() {}

  template <class State>
  static Tensors gather(std::unordered_map<const void*, State>& states, const Tensors& keys,
                        at::Tensor State::*member) {
    Tensors tensors;
    for (const auto& key : keys) tensors.push_back(states.at(key.unsafeGetTensorImpl()).*member);
    std::vector<std::size_t> all(tensors.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return pick(tensors, all);
  }
};

class ForeachSgd : public ForeachOptimizer {
 public:
  ForeachSgd(Tensors parameters, double momentum)
      : ForeachOptimizer(std::move(parameters)), momentum_(momentum) {}

 private:
  void visit_state(const VisitState& visit) const override {
    visit_tensors(buffers_, "momentum_buffer", visit);
  }

  void prepare(const at::Tensor&) override {}

  void step_group(const Tensors& keys, const Tensors& parameters, const Tensors& gradients) override {
    if (momentum_ == 0) {
      at::_foreach_add_(parameters, gradients, -learning_rate);
      return;
    }
    Tensors buffers;
    bool all_known = true;
    for (const auto& key : keys) all_known = all_known && buffers_.count(key.unsafeGetTensorImpl()) != 0;
    if (all_known) {
      for (const auto& key : keys) buffers.push_back(buffers_.at(key.unsafeGetTensorImpl()));
      at::_foreach_mul_(buffers, momentum_);
      at::_foreach_add_(buffers, gradients, 1.0);
    } else {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        auto& buffer = buffers_[keys[i].unsafeGetTensorImpl()];
        if (buffer.defined()) {
          buffer.mul_(momentum_).add_(gradients[i]);
        } else {
          buffer = gradients[i].detach().clone();
        }
        buffers.push_back(buffer);
      }
    }
    at::_foreach_add_(parameters, buffers, -learning_rate);
  }

  double momentum_;
  std::unordered_map<const void*, at::Tensor> buffers_;
};

class ForeachAdam : public ForeachOptimizer {
 public:
  ForeachAdam(Tensors parameters, double decoupled_weight_decay)
      : ForeachOptimizer(std::move(parameters)), weight_decay_(decoupled_weight_decay) {}

 private:
  struct State {
    at::Tensor step;
    at::Tensor exp_avg;
    at::Tensor exp_avg_sq;
  };

  void visit_state(const VisitState& visit) const override {
    visit_members<State>(
        states_, {{"step", &State::step}, {"exp_avg", &State::exp_avg}, {"exp_avg_sq", &State::exp_avg_sq}},
        visit);
  }

  void prepare(const at::Tensor& parameter) override {
    auto& state = states_[parameter.unsafeGetTensorImpl()];
    if (state.step.defined()) return;
    state.step = cpu_step();
    state.exp_avg = at::zeros_like(parameter);
    state.exp_avg_sq = at::zeros_like(parameter);
  }

  void step_group(const Tensors& keys, const Tensors& parameters, const Tensors& gradients) override {
    constexpr double beta1 = 0.9;
    constexpr double beta2 = 0.999;
    constexpr double eps = 1e-8;
    const Tensors steps = gather(states_, keys, &State::step);
    const Tensors exp_avgs = gather(states_, keys, &State::exp_avg);
    const Tensors exp_avg_sqs = gather(states_, keys, &State::exp_avg_sq);
    count_step(steps);
    if (weight_decay_ != 0) at::_foreach_mul_(parameters, 1 - learning_rate * weight_decay_);
    at::_foreach_lerp_(exp_avgs, gradients, 1 - beta1);
    at::_foreach_mul_(exp_avg_sqs, beta2);
    at::_foreach_addcmul_(exp_avg_sqs, gradients, gradients, 1 - beta2);
    std::vector<at::Scalar> step_sizes;
    std::vector<at::Scalar> corrections;
    for (const auto& step : steps) {
      const auto count = static_cast<double>(step.item<float>());
      step_sizes.emplace_back(-learning_rate / (1 - std::pow(beta1, count)));
      corrections.emplace_back(std::sqrt(1 - std::pow(beta2, count)));
    }
    denominators_ = at::_foreach_sqrt(exp_avg_sqs);
    at::_foreach_div_(denominators_, corrections);
    at::_foreach_add_(denominators_, eps);
    at::_foreach_addcdiv_(parameters, exp_avgs, denominators_, step_sizes);
  }

  void release_temporaries() override { denominators_.clear(); }

  double weight_decay_;
  std::unordered_map<const void*, State> states_;
  Tensors denominators_;
};

class ForeachRmsprop : public ForeachOptimizer {
 public:
  using ForeachOptimizer::ForeachOptimizer;

 private:
  struct State {
    at::Tensor step;
    at::Tensor square_avg;
  };

  void visit_state(const VisitState& visit) const override {
    visit_members<State>(states_, {{"step", &State::step}, {"square_avg", &State::square_avg}}, visit);
  }

  void prepare(const at::Tensor& parameter) override {
    auto& state = states_[parameter.unsafeGetTensorImpl()];
    if (state.step.defined()) return;
    state.step = cpu_step();
    state.square_avg = at::zeros_like(parameter);
  }

  void step_group(const Tensors& keys, const Tensors& parameters, const Tensors& gradients) override {
    constexpr double default_alpha = 0.99;
    constexpr double eps = 1e-8;
    const Tensors square_avgs = gather(states_, keys, &State::square_avg);
    count_step(gather(states_, keys, &State::step));
    at::_foreach_mul_(square_avgs, default_alpha);
    at::_foreach_addcmul_(square_avgs, gradients, gradients, 1 - default_alpha);
    averages_ = at::_foreach_sqrt(square_avgs);
    at::_foreach_add_(averages_, eps);
    at::_foreach_addcdiv_(parameters, gradients, averages_, -learning_rate);
  }

  void release_temporaries() override { averages_.clear(); }

  std::unordered_map<const void*, State> states_;
  Tensors averages_;
};

class ForeachAdagrad : public ForeachOptimizer {
 public:
  explicit ForeachAdagrad(Tensors parameters) : ForeachOptimizer(std::move(parameters)) {
    for (const auto& parameter : parameters_) {
      states_[parameter.unsafeGetTensorImpl()] = {cpu_step(),
                                                  at::full_like(parameter, 0).requires_grad_(false)};
    }
  }

 private:
  struct State {
    at::Tensor step;
    at::Tensor sum;
  };

  void visit_state(const VisitState& visit) const override {
    visit_members<State>(states_, {{"step", &State::step}, {"sum", &State::sum}}, visit);
  }

  void prepare(const at::Tensor&) override {}

  void step_group(const Tensors& keys, const Tensors& parameters, const Tensors& gradients) override {
    constexpr double eps = 1e-10;
    const Tensors sums = gather(states_, keys, &State::sum);
    count_step(gather(states_, keys, &State::step));
    const std::vector<at::Scalar> rates(parameters.size(), at::Scalar(-learning_rate));
    at::_foreach_addcmul_(sums, gradients, gradients, 1);
    deviations_ = at::_foreach_sqrt(sums);
    at::_foreach_add_(deviations_, eps);
    numerators_ = at::_foreach_mul(gradients, rates);
    at::_foreach_addcdiv_(parameters, numerators_, deviations_);
  }

  void release_temporaries() override {
    numerators_.clear();
    deviations_.clear();
  }

  std::unordered_map<const void*, State> states_;
  Tensors deviations_;
  Tensors numerators_;
};

}  // namespace

std::unique_ptr<Optimizer> foreach_sgd(Tensors parameters) {
  return std::make_unique<ForeachSgd>(std::move(parameters), 0.0);
}

std::unique_ptr<Optimizer> foreach_momentum(Tensors parameters) {
  return std::make_unique<ForeachSgd>(std::move(parameters), 0.9);
}

std::unique_ptr<Optimizer> foreach_adam(Tensors parameters) {
  return std::make_unique<ForeachAdam>(std::move(parameters), 0.0);
}

std::unique_ptr<Optimizer> foreach_adamw(Tensors parameters) {
  return std::make_unique<ForeachAdam>(std::move(parameters), 1e-2);
}

std::unique_ptr<Optimizer> foreach_rmsprop(Tensors parameters) {
  return std::make_unique<ForeachRmsprop>(std::move(parameters));
}

std::unique_ptr<Optimizer> foreach_adagrad(Tensors parameters) {
  return std::make_unique<ForeachAdagrad>(std::move(parameters));
}

}  // namespace torchmem::engine
