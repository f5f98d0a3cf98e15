#include "engine/ivalue_tensors.h"

#include <ATen/core/jit_type.h>

namespace torchmem::engine {

c10::IValue map_tensors(const c10::IValue& value,
                        const std::function<at::Tensor(const at::Tensor&)>& replace) {
  if (value.isTensor()) return replace(value.toTensor());
  if (value.isTuple()) {
    const auto tuple = value.toTuple();
    std::vector<c10::IValue> elements;
    for (const auto& element : tuple->elements()) elements.push_back(map_tensors(element, replace));
    const auto type = tuple->type<c10::TupleType>();
    return type->schema() ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
                          : c10::ivalue::Tuple::create(std::move(elements));
  }
  if (value.isList()) {
    const auto from = value.toList();
    c10::impl::GenericList to(from.elementType());
    for (const auto& element : value.toListRef()) to.push_back(map_tensors(element, replace));
    return to;
  }
  if (value.isGenericDict()) {
    const auto from = value.toGenericDict();
    c10::impl::GenericDict to(from.keyType(), from.valueType());
    for (const auto& entry : from) to.insert(entry.key(), map_tensors(entry.value(), replace));
    return to;
  }
  return value;
}

}  // namespace torchmem::engine
