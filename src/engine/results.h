#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <vector>

namespace torchmem::engine {

// A tensor of a model's result and how to name it: "" for a result that is the tensor itself, else the keys,
// positions and attribute names that lead to it, joined by dots ("logits", "0", "0.hidden").
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// The tensors of a result in order: dictionary entries as they were inserted, elements of lists and tuples
// (named tuples by field), attributes of objects.
std::vector<NamedTensor> result_tensors(const c10::IValue& result);

// The tensor that the loss is of: the one called `name`, or the first. Throws Failure (bad_input) listing
// the names if there is no such tensor, and (model_failed) if the result holds no tensor at all.
NamedTensor pick_tensor(const c10::IValue& result, const std::optional<std::string>& name);

}  // namespace torchmem::engine
