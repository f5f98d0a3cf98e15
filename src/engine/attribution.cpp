#include "engine/attribution.h"

#include <unordered_map>

#include "engine/results.h"

namespace torchmem::engine {
namespace {

std::string joined(const std::string& name, const std::string& inner) {
  return name.empty() || inner.empty() ? name + inner : name + "." + inner;
}

}  // namespace

void Attribution::claim(const at::Tensor& tensor, Category category, const std::string& name) {
  owners_->claim(tensor, category, name);
}

void Attribution::model(const Model& model, const std::string& name) {
  if (owners_ == nullptr) return;
  for (auto& entry : model.named_tensors()) {
    entry.name = joined(name, entry.name);
    claim(entry.tensor, entry.category, entry.name);
    if (entry.category == Category::parameters) parameters_.push_back({name, std::move(entry)});
  }
}

void Attribution::forget_model(const std::string& name) {
  std::erase_if(parameters_, [&](const Parameter& parameter) { return parameter.model == name; });
}

void Attribution::inputs(const std::vector<std::string>& names, const std::vector<c10::IValue>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) input(names[i], values[i]);
}

void Attribution::input(const std::string& name, const c10::IValue& value) {
  if (owners_ == nullptr) return;
  for (const auto& entry : result_tensors(value))
    claim(entry.tensor, Category::inputs, joined(name, entry.name));
}

void Attribution::outputs(const c10::IValue& result, const std::string& name) {
  if (owners_ == nullptr) return;
  for (const auto& entry : result_tensors(result)) {
    const std::string own = joined(name, entry.name);
    claim(entry.tensor, Category::outputs, own.empty() ? "result" : own);
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
  return AtExit([this] { claim_gradients(); });
}

void Attribution::claim_gradients() {
  struct Block {
    at::Tensor gradient;
    std::string names;
    bool has_several = false;
  };
  std::vector<Block> blocks;
  std::unordered_map<const void*, std::size_t> places;  // by memory
  for (const auto& [model, parameter] : parameters_) {
    at::Tensor gradient = parameter.tensor.grad();
    if (!gradient.defined() || !gradient.has_storage()) continue;
    const auto [place, is_new] = places.try_emplace(gradient.storage().unsafeGetStorageImpl(), blocks.size());
    if (is_new) {
      blocks.push_back({std::move(gradient), parameter.name});
    } else {
      blocks[place->second].names += ", " + parameter.name;
      blocks[place->second].has_several = true;
    }
  }
  for (const Block& block : blocks) {
    if (block.has_several) {
      owners_->claim_whole(block.gradient, Category::gradients, block.names);
    } else {
      claim(block.gradient, Category::gradients, block.names);
    }
  }
}

Attribution::AtExit Attribution::optimizer_state_at_exit(const Optimizer& optimizer) {
  if (owners_ == nullptr) return AtExit({});
  return AtExit([this, &optimizer] {
    std::unordered_map<const void*, const std::string*> names;
    for (const auto& [model, parameter] : parameters_)
      names[parameter.tensor.unsafeGetTensorImpl()] = &parameter.name;
    optimizer.visit_state([&](const char* name, const at::Tensor& parameter, const at::Tensor& state) {
      const auto found = names.find(parameter.unsafeGetTensorImpl());
      claim(state, Category::optimizer_state,
            found == names.end() ? name : std::string(name) + " of " + *found->second);
    });
  });
}

}  // namespace torchmem::engine
