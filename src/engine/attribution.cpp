#include "engine/attribution.h"

#include <unordered_map>

#include "engine/results.h"

namespace torchmem::engine {

void Attribution::claim(const at::Tensor& tensor, Category category, const std::string& name) {
  owners_->claim(tensor, category, name);
}

void Attribution::model(const Model& model) {
  if (owners_ == nullptr) return;
  for (auto& entry : model.named_tensors()) {
    claim(entry.tensor, entry.category, entry.name);
    if (entry.category == Category::parameters) parameters_.push_back(std::move(entry));
  }
}

void Attribution::inputs(const std::vector<std::string>& names, const std::vector<c10::IValue>& values) {
  if (owners_ == nullptr) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const auto& entry : result_tensors(values[i])) {
      claim(entry.tensor, Category::inputs, entry.name.empty() ? names[i] : names[i] + "." + entry.name);
    }
  }
}

void Attribution::outputs(const c10::IValue& result) {
  if (owners_ == nullptr) return;
  for (const auto& entry : result_tensors(result)) {
    claim(entry.tensor, Category::outputs, entry.name.empty() ? "result" : entry.name);
  }
}

void Attribution::loss(const at::Tensor& loss) {
  if (owners_ != nullptr) claim(loss, Category::outputs, "loss");
}

void Attribution::loss_gradient(const at::Tensor& gradient) {
  if (owners_ != nullptr) claim(gradient, Category::gradients, "loss");
}

Attribution::AtExit Attribution::gradients_at_exit() {
  if (owners_ == nullptr) return AtExit({});
  return AtExit([this] {
    for (const auto& parameter : parameters_) {
      if (parameter.tensor.grad().defined())
        claim(parameter.tensor.grad(), Category::gradients, parameter.name);
    }
  });
}

Attribution::AtExit Attribution::optimizer_state_at_exit(const Optimizer& optimizer) {
  if (owners_ == nullptr) return AtExit({});
  return AtExit([this, &optimizer] {
    std::unordered_map<const void*, const std::string*> names;
    for (const auto& parameter : parameters_) names[parameter.tensor.unsafeGetTensorImpl()] = &parameter.name;
    optimizer.visit_state([&](const char* name, const at::Tensor& parameter, const at::Tensor& state) {
      const auto found = names.find(parameter.unsafeGetTensorImpl());
      claim(state, Category::optimizer_state,
            found == names.end() ? name : std::string(name) + " of " + *found->second);
    });
  });
}

}  // namespace torchmem::engine
