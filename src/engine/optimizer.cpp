#include "engine/optimizer.h"

#include <set>

#include "engine/failure.h"
#include "engine/optimizers_foreach.h"
#include "engine/optimizers_fused.h"
#include "engine/optimizers_loop.h"

namespace torchmem::engine {
namespace {

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

void Optimizer::zero_grad() {
  for (auto& parameter : parameters_) parameter.mutable_grad().reset();
}

const std::vector<OptimizerForm>& optimizer_forms() {
  static const std::vector<OptimizerForm> table = {
      {"sgd", "loop", loop_sgd},
      {"sgd", "foreach", foreach_sgd},
      {"sgd", "fused", fused_sgd},
      {"momentum", "loop", loop_momentum},
      {"momentum", "foreach", foreach_momentum},
      {"momentum", "fused", fused_momentum},
      {"adam", "loop", loop_adam},
      {"adam", "foreach", foreach_adam},
      {"adam", "fused", fused_adam},
      {"adamw", "loop", loop_adamw},
      {"adamw", "foreach", foreach_adamw},
      {"adamw", "fused", fused_adamw},
      {"rmsprop", "loop", loop_rmsprop},
      {"rmsprop", "foreach", foreach_rmsprop},
      {"adagrad", "loop", loop_adagrad},
      {"adagrad", "foreach", foreach_adagrad},
  };
  return table;
}

const OptimizerForm& find_optimizer(const std::string& optimizer, const std::string& form) {
  std::set<std::string> optimizers;
  std::set<std::string> forms;
  for (const auto& entry : optimizer_forms()) {
    if (optimizer == entry.optimizer && form == entry.form) return entry;
    optimizers.insert(entry.optimizer);
    if (optimizer == entry.optimizer) forms.insert(entry.form);
  }
  if (forms.empty()) {
    throw Failure(FailureKind::bad_usage,
                  "Unknown optimizer \"" + optimizer + "\": expected one of " + joined(optimizers) + ".");
  }
  throw Failure(FailureKind::bad_usage, "PyTorch has no form \"" + form + "\" of the optimizer " + optimizer +
                                            " on CUDA: it has " + joined(forms) + ".");
}

}  // namespace torchmem::engine
