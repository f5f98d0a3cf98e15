#include "values/arguments.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <utility>

#include "values/stand_in.h"
#include "values/tensor_memory.h"
#include "values/virtual_device.h"

namespace torchmem::values {
namespace {

bool is_on_cuda(const c10::IValue& value) { return value.isDevice() && value.toDevice().is_cuda(); }

// Calls `visit(tensor)` for the tensors of one argument.
template <class Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) visit(tensor);
  } else if (value.isOptionalTensorList()) {
    for (const auto& element : value.toOptionalTensorVector()) {
      if (element) visit(*element);
    }
  }
}

// A tensor with its memory in plain sight.
bool is_plain(const at::Tensor& tensor) {
  return (tensor.is_cpu() || tensor.is_cuda()) && tensor.layout() == at::kStrided && tensor.has_storage() &&
         !tensor.is_quantized() && !tensor.is_nested() && !tensor.key_set().has(c10::DispatchKey::Python);
}

// Unknown elements get what they are taken for, so that whoever reads them next sees the same.
void assume_unknown(const Place& place) {
  std::vector<char> bytes(place.span_bytes());
  fill_unknown(place.dtype, bytes.data(), bytes.size());
  virtual_device().stand_in(place.address, bytes.size(), bytes.data());
}

at::Tensor read_one(const Operator& op, std::uint32_t position, const Place& place, bool is_number,
                    State& worst) {
  if (op.overwrites(position)) return at::detail::empty_strided_cpu(place.sizes, place.strides, place.dtype);
  State state = State::known;
  at::Tensor values = read(place, state);
  if (state == State::unknown) {
    assume_unknown(place);
    values = read(place, state);
    state = State::assumed;
  }
  worst = std::min(worst, state);
  if (op.wants_own_elements) values = values.contiguous();
  if (is_number) values.unsafeGetTensorImpl()->set_wrapped_number(true);
  return values;
}

}  // namespace

bool Bounds::admit(const Place& place) const {
  const std::size_t bound = is_integer(place.dtype) ? integers : floats;
  return place.span_bytes() <= bound;
}

bool Bounds::admit(const at::Tensor& tensor) const {
  return tensor.nbytes() <= (is_integer(tensor.scalar_type()) ? integers : floats);
}

Look look_at(const Operator& op, c10::ArrayRef<const c10::IValue> inputs, const Bounds& bounds) {
  Look look;
  for (std::uint32_t i = 0; i < inputs.size() && !look.is_strange; ++i) {
    if (is_on_cuda(inputs[i])) look.is_on_device = true;
    for_each_tensor(inputs[i], [&](const at::Tensor& tensor) {
      if (!tensor.defined() || look.is_strange) return;
      if (!is_plain(tensor)) {
        look.is_strange = true;
        return;
      }
      if (!tensor.is_cuda()) return;
      look.is_on_device = true;
      if (look.has_large || op.overwrites(i)) return;
      if (!bounds.admit(tensor)) {
        look.has_large = true;
        return;
      }
      const auto place = place_of(tensor);
      if (!place || !bounds.admit(*place)) {
        look.has_large = true;
        return;
      }
      const State state = state_of(*place);
      if (state == State::unknown) look.has_unknown = true;
      look.state = std::min(look.state, state);
    });
  }
  return look;
}

std::vector<Argument> describe(c10::ArrayRef<const c10::IValue> inputs) {
  std::vector<Argument> arguments;
  arguments.reserve(inputs.size());
  for (const auto& value : inputs) {
    Argument argument;
    argument.is_list = value.isTensorList() || value.isOptionalTensorList();
    if (!argument.is_list && !value.isTensor()) {
      argument.value = is_on_cuda(value) ? c10::IValue(c10::Device(c10::kCPU)) : value;
    } else {
      const auto add = [&](const at::Tensor& tensor) {
        const bool on_device = tensor.defined() && tensor.is_cuda();
        argument.places.push_back(on_device ? place_of(tensor) : std::nullopt);
        argument.on_cpu.push_back(on_device ? at::Tensor() : tensor);
        argument.is_number.push_back(tensor.defined() && tensor.unsafeGetTensorImpl()->is_wrapped_number());
      };
      if (value.isOptionalTensorList()) {
        for (const auto& element : value.toOptionalTensorVector()) add(element ? *element : at::Tensor());
        argument.has_none = true;
      } else {
        for_each_tensor(value, add);
      }
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

torch::jit::Stack read_all(const Operator& op, const std::vector<Argument>& arguments, State& state) {
  torch::jit::Stack stack;
  stack.reserve(arguments.size());
  state = State::known;
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_list && argument.places.empty()) {
      stack.push_back(argument.value);
      continue;
    }
    std::vector<at::Tensor> tensors;
    for (std::size_t j = 0; j < argument.places.size(); ++j) {
      tensors.push_back(argument.places[j]
                            ? read_one(op, i, *argument.places[j], argument.is_number[j], state)
                            : argument.on_cpu[j]);
    }
    if (!argument.is_list) {
      stack.emplace_back(tensors.front());
    } else if (argument.has_none) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& tensor : tensors)
        list.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
      stack.emplace_back(std::move(list));
    } else {
      stack.emplace_back(c10::List<at::Tensor>(tensors));
    }
  }
  return stack;
}

std::vector<std::size_t> known_elements(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                                        const Bounds& bounds) {
  std::vector<bool> usable;
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].isTensorList()) continue;
    const auto list = inputs[i].toTensorList();
    if (list.empty()) continue;  // not given
    if (usable.empty()) usable.assign(list.size(), true);
    if (usable.size() != list.size()) return {};
    for (std::size_t j = 0; j < list.size(); ++j) {
      const at::Tensor& tensor = list.get(j);
      if (!usable[j] || !tensor.is_cuda()) continue;
      const auto place = bounds.admit(tensor) ? place_of(tensor) : std::nullopt;
      usable[j] = place && bounds.admit(*place) && (op.overwrites(i) || state_of(*place) != State::unknown);
    }
  }
  std::vector<std::size_t> elements;
  for (std::size_t j = 0; j < usable.size(); ++j) {
    if (usable[j]) elements.push_back(j);
  }
  return elements;
}

void choose(std::vector<Argument>& arguments, const std::vector<std::size_t>& elements) {
  for (Argument& argument : arguments) {
    if (!argument.is_list || argument.places.empty()) continue;
    Argument chosen;
    chosen.is_list = true;
    chosen.has_none = argument.has_none;
    for (const std::size_t j : elements) {
      chosen.places.push_back(argument.places[j]);
      chosen.on_cpu.push_back(argument.on_cpu[j]);
      chosen.is_number.push_back(argument.is_number[j]);
    }
    argument = std::move(chosen);
  }
}

}  // namespace torchmem::values
