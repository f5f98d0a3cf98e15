#include "engine/results.h"

#include <ATen/core/class_type.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>

#include "engine/failure.h"

namespace torchmem::engine {
namespace {

std::string joined(const std::string& path, const std::string& step) {
  return path.empty() ? step : path + "." + step;
}

std::string key_text(const c10::IValue& key) {
  if (key.isString()) return key.toStringRef();
  if (key.isInt()) return std::to_string(key.toInt());
  return "?";
}

void walk(const c10::IValue& value, const std::string& path, std::vector<NamedTensor>& found) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) found.push_back({path, value.toTensor()});
  } else if (value.isTuple()) {
    const auto tuple = value.toTuple();
    const auto type = tuple->type<c10::TupleType>();
    const auto& elements = tuple->elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const bool named = type->schema() && i < type->schema()->arguments().size();
      walk(elements[i], joined(path, named ? type->schema()->arguments()[i].name() : std::to_string(i)),
           found);
    }
  } else if (value.isList()) {
    const auto list = value.toListRef();
    for (std::size_t i = 0; i < list.size(); ++i) walk(list[i], joined(path, std::to_string(i)), found);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict())
      walk(entry.value(), joined(path, key_text(entry.key())), found);
  } else if (value.isObject()) {
    const auto object = value.toObject();
    const auto type = object->type();
    for (std::size_t i = 0; i < type->numAttributes(); ++i) {
      walk(object->getSlot(i), joined(path, type->getAttributeName(i)), found);
    }
  }
}

}  // namespace

std::vector<NamedTensor> result_tensors(const c10::IValue& result) {
  std::vector<NamedTensor> found;
  walk(result, "", found);
  return found;
}

NamedTensor pick_tensor(const c10::IValue& result, const std::optional<std::string>& name) {
  auto tensors = result_tensors(result);
  if (tensors.empty()) {
    throw Failure(FailureKind::model_failed, "The model's result holds no tensor (it is " + result.tagKind() +
                                                 "), so there is nothing to take a loss of.");
  }
  if (!name) return std::move(tensors.front());
  std::string names;
  for (auto& tensor : tensors) {
    if (tensor.name == *name) return std::move(tensor);
    names += (names.empty() ? "" : ", ") +
             (tensor.name.empty() ? std::string("(the result itself)") : tensor.name);
  }
  throw Failure(FailureKind::bad_input, "The model's result has no tensor \"" + *name +
                                            "\" to take the loss of. Its tensors are: " + names + ".");
}

}  // namespace torchmem::engine
