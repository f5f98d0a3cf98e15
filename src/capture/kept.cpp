#include "capture/kept.h"

#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <vector>

#include "values/operator.h"
#include "values/tensor_memory.h"

namespace torchmem::capture {
namespace {

bool has_node(const at::Tensor& tensor) {
  return tensor.defined() && tensor.requires_grad() && !tensor.is_leaf();
}

const c10::StorageImpl* storage_of(const at::Tensor& tensor) {
  return tensor.storage().unsafeGetStorageImpl();
}

std::vector<const at::Tensor*> tensors_of(c10::ArrayRef<c10::IValue> values) {
  std::vector<const at::Tensor*> tensors;
  const auto add = [&](const c10::IValue& value) {
    if (value.isTensor() && values::storage_address(value.toTensor()) != 0)
      tensors.push_back(&value.toTensor());
  };
  for (const c10::IValue& value : values) {
    if (value.isList()) {
      for (const c10::IValue& element : value.toListRef()) add(element);
    } else {
      add(value);
    }
  }
  return tensors;
}

// Of the results: how many tensors hold the memory.
std::size_t holders(const c10::StorageImpl* storage, const std::vector<const at::Tensor*>& results) {
  std::vector<const c10::TensorImpl*> tensors;
  for (const at::Tensor* result : results) {
    if (storage_of(*result) == storage) tensors.push_back(result->unsafeGetTensorImpl());
  }
  std::sort(tensors.begin(), tensors.end());
  return static_cast<std::size_t>(std::unique(tensors.begin(), tensors.end()) - tensors.begin());
}

// Whether one of them requires a gradient that comes from an operator.
bool leads_to_backward(const std::vector<const at::Tensor*>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const auto* tensor) { return has_node(*tensor); });
}

class Kept : public at::ObserverContext {
 public:
  // `copied`: the inputs are held for the call alone, as the dispatcher's are; a Python function's are held
  // until it ends.
  Kept(c10::ArrayRef<c10::IValue> inputs, bool copied);

  std::vector<at::Tensor> after(const std::vector<const at::Tensor*>& results) const;

 private:
  struct Candidate {
    c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl> tensor;
    std::size_t tensor_holders = 0;
    c10::weak_intrusive_ptr<c10::StorageImpl> storage;
    std::size_t storage_holders = 0;
  };

  static bool is_kept(const Candidate& candidate, const std::vector<const at::Tensor*>& results);

  std::vector<Candidate> candidates_;
};

Kept::Kept(c10::ArrayRef<c10::IValue> inputs, bool copied) {
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor() || !has_node(input.toTensor())) continue;
    const at::Tensor& tensor = input.toTensor();
    if (values::storage_address(tensor) == 0) continue;
    Candidate candidate{decltype(Candidate::tensor)(tensor.getIntrusivePtr()), tensor.use_count(),
                        tensor.storage().getWeakStorageImpl(), tensor.storage().use_count()};
    for (const c10::IValue& other : inputs) {
      if (copied && other.isTensor() && other.toTensor().is_same(tensor)) --candidate.tensor_holders;
    }
    candidates_.push_back(std::move(candidate));
  }
}

bool Kept::is_kept(const Candidate& candidate, const std::vector<const at::Tensor*>& results) {
  const auto tensor = candidate.tensor._unsafe_get_target();
  const auto* storage = candidate.storage._unsafe_get_target();
  if (candidate.tensor.expired() || candidate.storage.expired()) return false;
  const bool is_result = std::any_of(results.begin(), results.end(), [&](const at::Tensor* result) {
    return result->unsafeGetTensorImpl() == tensor;
  });
  const std::size_t others = holders(storage, results) - (is_result ? 1 : 0);
  if (candidate.storage.use_count() > candidate.storage_holders + others) return true;
  // A result that is the tensor, or a view of it, holds it too.
  return !is_result && others == 0 && candidate.tensor.use_count() > candidate.tensor_holders;
}

std::vector<at::Tensor> Kept::after(const std::vector<const at::Tensor*>& results) const {
  std::vector<at::Tensor> kept;
  for (const Candidate& candidate : candidates_) {
    if (!is_kept(candidate, results)) continue;
    if (auto tensor = candidate.tensor.lock()) kept.emplace_back(std::move(tensor));
  }
  if (!leads_to_backward(results)) return kept;
  for (const at::Tensor* result : results) {
    const auto* storage = storage_of(*result);
    const bool is_input = std::any_of(
        candidates_.begin(), candidates_.end(),
        [&](const Candidate& candidate) { return candidate.storage._unsafe_get_target() == storage; });
    if (!is_input && !result->is_view() && result->storage().use_count() > holders(storage, results))
      kept.push_back(*result);
  }
  return kept;
}

// TorchScript's interpreter shows all of its stack, of which the last values are the operator's.
template <class Values>
c10::ArrayRef<c10::IValue> own(const Values& values, std::size_t count) {
  const c10::ArrayRef<c10::IValue> all(values.data(), values.size());
  return all.size() > count ? all.slice(all.size() - count) : all;
}

c10::ArrayRef<c10::IValue> weights_of(const values::Operator& op, c10::ArrayRef<c10::IValue> inputs) {
  const auto& arguments = op.handle->schema().arguments();
  for (std::size_t i = 0; i < std::min(arguments.size(), inputs.size()); ++i) {
    if (arguments[i].name() == "weight") return inputs.slice(i, 1);
  }
  return {};
}

}  // namespace

std::unique_ptr<at::ObserverContext> begin_kept(const at::RecordFunction& fn, bool is_outermost,
                                                Owners& owners) {
  const values::Operator& op = values::operator_of(fn);
  const auto inputs = own(fn.inputs(), op.handle ? op.arguments : fn.inputs().size());
  c10::ArrayRef<c10::IValue> weights;
  if (is_outermost && op.handle) weights = weights_of(op, inputs);
  owners.used(fn.inputs(), weights);
  if (!c10::GradMode::is_enabled() || c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradCUDA))
    return nullptr;
  return std::make_unique<Kept>(inputs, op.handle.has_value());
}

void end_kept(const at::RecordFunction& fn, const at::ObserverContext& begun, bool is_outermost,
              Owners& owners) {
  const values::Operator& op = values::operator_of(fn);
  const auto outputs = own(fn.outputs(), op.handle ? op.returns : 0);
  const auto results = tensors_of(outputs);
  for (const at::Tensor& tensor : static_cast<const Kept&>(begun).after(results)) owners.saved(tensor);
  if (is_outermost && leads_to_backward(results)) owners.left_behind(outputs);
}

}  // namespace torchmem::capture
