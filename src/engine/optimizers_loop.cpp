#include "engine/optimizers_loop.h"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

namespace torchmem::engine {
namespace {

constexpr double kLearningRate = 1e-3;

template <class Torch>
class LoopOptimizer : public Optimizer {
 public:
  template <class Options>
  LoopOptimizer(std::vector<at::Tensor> parameters, const Options& options)
      : Optimizer(parameters), optimizer_(std::move(parameters), options) {}
  void step() override { optimizer_.step(); }

 private:
  Torch optimizer_;
};

template <class Torch, class Options>
std::unique_ptr<Optimizer> make(std::vector<at::Tensor> parameters, const Options& options) {
  return std::make_unique<LoopOptimizer<Torch>>(std::move(parameters), options);
}

}  // namespace

std::unique_ptr<Optimizer> loop_sgd(std::vector<at::Tensor> parameters) {
  return make<torch::optim::SGD>(std::move(parameters), torch::optim::SGDOptions(kLearningRate));
}

std::unique_ptr<Optimizer> loop_momentum(std::vector<at::Tensor> parameters) {
  return make<torch::optim::SGD>(std::move(parameters),
                                 torch::optim::SGDOptions(kLearningRate).momentum(0.9));
}

std::unique_ptr<Optimizer> loop_adam(std::vector<at::Tensor> parameters) {
  return make<torch::optim::Adam>(std::move(parameters), torch::optim::AdamOptions(kLearningRate));
}

std::unique_ptr<Optimizer> loop_adamw(std::vector<at::Tensor> parameters) {
  return make<torch::optim::AdamW>(std::move(parameters), torch::optim::AdamWOptions(kLearningRate));
}

std::unique_ptr<Optimizer> loop_rmsprop(std::vector<at::Tensor> parameters) {
  return make<torch::optim::RMSprop>(std::move(parameters), torch::optim::RMSpropOptions(kLearningRate));
}

std::unique_ptr<Optimizer> loop_adagrad(std::vector<at::Tensor> parameters) {
  return make<torch::optim::Adagrad>(std::move(parameters), torch::optim::AdagradOptions(kLearningRate));
}

}  // namespace torchmem::engine
