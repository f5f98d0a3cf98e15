#include "engine/optimizers_fused.h"

#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <unordered_map>

#include "capture/dtype.h"
#include "engine/failure.h"
#include "engine/optimizer_groups.h"

namespace torchmem::engine {
namespace {

constexpr double learning_rate = 1e-3;

using Tensors = std::vector<at::Tensor>;

void require_floating_point(const at::Tensor& parameter) {
  if (parameter.is_floating_point()) return;
  throw Failure(FailureKind::bad_usage,
                "The fused optimizers need floating-point parameters; this model has one of type " +
                    capture::dtype_name(parameter.scalar_type()) + ". Leave out :fused.");
}

class FusedOptimizer : public Optimizer {
 protected:
  using Optimizer::Optimizer;

  // Parameters with gradients, and those gradients.
  std::pair<Tensors, Tensors> with_gradients() const {
    std::pair<Tensors, Tensors> result;
    for (const auto& parameter : parameters_) {
      if (!parameter.grad().defined()) continue;
      require_floating_point(parameter);
      result.first.push_back(parameter);
      result.second.push_back(parameter.grad());
    }
    return result;
  }
};

class FusedSgd : public FusedOptimizer {
 public:
  FusedSgd(Tensors parameters, double momentum)
      : FusedOptimizer(std::move(parameters)), momentum_(momentum) {}

  void step() override {
    const at::NoGradGuard no_grad;
    const auto [parameters, gradients] = with_gradients();
    Tensors buffers;
    bool first = momentum_ != 0;
    if (momentum_ != 0) {
      for (const auto& parameter : parameters)
        first = first && buffers_.count(parameter.unsafeGetTensorImpl()) == 0;
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        auto& buffer = buffers_[parameters[i].unsafeGetTensorImpl()];
        if (!buffer.defined()) buffer = at::empty_like(gradients[i]);
        buffers.push_back(buffer);
      }
    }
    for (const auto& positions : group_by_device_and_dtype(parameters)) {
      at::_fused_sgd_(pick(parameters, positions), pick(gradients, positions),
                      momentum_ == 0 ? Tensors{} : pick(buffers, positions), /*weight_decay=*/0.0, momentum_,
                      learning_rate,
                      /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false, first);
    }
  }

  void visit_state(const VisitState& visit) const override {
    visit_tensors(buffers_, "momentum_buffer", visit);
  }

 private:
  double momentum_;
  std::unordered_map<const void*, at::Tensor> buffers_;
};

using FusedStep = void (*)(at::TensorList, at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                           at::TensorList, double, double, double, double, double, bool, bool,
                           const std::optional<at::Tensor>&, const std::optional<at::Tensor>&);

class FusedAdam : public FusedOptimizer {
 public:
  FusedAdam(Tensors parameters, double weight_decay, FusedStep step)
      : FusedOptimizer(std::move(parameters)), weight_decay_(weight_decay), step_(step) {}

  void step() override {
    const at::NoGradGuard no_grad;
    const auto [parameters, gradients] = with_gradients();
    Tensors steps;
    Tensors exp_avgs;
    Tensors exp_avg_sqs;
    for (const auto& parameter : parameters) {
      auto& state = states_[parameter.unsafeGetTensorImpl()];
      if (!state.step.defined()) {
        state.step = at::zeros({}, at::TensorOptions().dtype(at::kFloat).device(parameter.device()));
        state.exp_avg = at::zeros_like(parameter);
        state.exp_avg_sq = at::zeros_like(parameter);
      }
      steps.push_back(state.step);
      exp_avgs.push_back(state.exp_avg);
      exp_avg_sqs.push_back(state.exp_avg_sq);
    }
    for (const auto& positions : group_by_device_and_dtype(parameters)) {
      const Tensors group_steps = pick(steps, positions);
      at::_foreach_add_(group_steps, 1);
      step_(pick(parameters, positions), pick(gradients, positions), pick(exp_avgs, positions),
            pick(exp_avg_sqs, positions), {}, group_steps, learning_rate, /*beta1=*/0.9, /*beta2=*/0.999,
            weight_decay_, /*eps=*/1e-8, /*amsgrad=*/false,
            /*maximize=*/false, {}, {});
    }
  }

  void visit_state(const VisitState& visit) const override {
    visit_members<State>(
        states_, {{"step", &State::step}, {"exp_avg", &State::exp_avg}, {"exp_avg_sq", &State::exp_avg_sq}},
        visit);
  }

 private:
  struct State {
    at::Tensor step;
    at::Tensor exp_avg;
    at::Tensor exp_avg_sq;
  };

  double weight_decay_;
  FusedStep step_;
  std::unordered_map<const void*, State> states_;
};

}  // namespace

std::unique_ptr<Optimizer> fused_sgd(Tensors parameters) {
  return std::make_unique<FusedSgd>(std::move(parameters), 0.0);
}

std::unique_ptr<Optimizer> fused_momentum(Tensors parameters) {
  return std::make_unique<FusedSgd>(std::move(parameters), 0.9);
}

std::unique_ptr<Optimizer> fused_adam(Tensors parameters) {
  return std::make_unique<FusedAdam>(std::move(parameters), 0.0, static_cast<FusedStep>(at::_fused_adam_));
}

std::unique_ptr<Optimizer> fused_adamw(Tensors parameters) {
  return std::make_unique<FusedAdam>(std::move(parameters), 1e-2, static_cast<FusedStep>(at::_fused_adamw_));
}

}  // namespace torchmem::engine
