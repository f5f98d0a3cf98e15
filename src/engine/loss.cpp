#include "engine/loss.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include "engine/failure.h"

namespace torchmem::engine {
namespace {

at::Tensor sum(at::Tensor y) { return y.sum(); }

at::Tensor mean(at::Tensor y) { return y.mean(); }

at::Tensor mse(at::Tensor y) { return at::mse_loss(y, at::zeros_like(y)); }

at::Tensor cross_entropy(at::Tensor y) {
  if (y.dim() < 2) {
    throw Failure(
        FailureKind::bad_input,
        "The loss cross_entropy needs a result of at least two dimensions (batch, class), but it has " +
            std::to_string(y.dim()) + ".",
        nlohmann::json::object(), Remedy::choose_loss);
  }
  if (y.dim() == 3) y = y.flatten(0, 1);
  auto target_shape = y.sizes().vec();
  target_shape.erase(target_shape.begin() + 1);
  return at::cross_entropy_loss(y,
                                at::zeros(target_shape, y.options().dtype(at::kLong).requires_grad(false)));
}

}  // namespace

const std::vector<Loss>& losses() {
  static const std::vector<Loss> table = {
      {"sum", sum}, {"mean", mean}, {"mse", mse}, {"cross_entropy", cross_entropy}};
  return table;
}

const Loss& find_loss(const std::string& name) {
  std::string names;
  for (const auto& loss : losses()) {
    if (name == loss.name) return loss;
    names += (names.empty() ? "" : ", ") + std::string(loss.name);
  }
  throw Failure(FailureKind::bad_usage, "Unknown loss \"" + name + "\": expected one of " + names + ".");
}

}  // namespace torchmem::engine
