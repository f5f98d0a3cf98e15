#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "values/operator.h"
#include "values/value.h"

namespace torchmem::values {

// How large a tensor may be whose elements are computed, in bytes.
struct Bounds {
  std::size_t integers = std::size_t{1} << 20;  // and booleans
  std::size_t floats = std::size_t{64} << 10;

  bool admit(const Place& place) const;
  bool admit(const at::Tensor& tensor) const;
};

// One argument of an operator, with places instead of device tensors, so that it can be read when it is
// needed and keeps none of them alive.
struct Argument {
  c10::IValue value;      // as it was; of tensors, only when it is on the CPU
  bool is_list = false;   // of tensors
  bool has_none = false;  // of which some may be none
  std::vector<std::optional<Place>>
      places;                      // of the tensor, or of each in the list; nothing where on the CPU
  std::vector<at::Tensor> on_cpu;  // beside them; undefined where on the device
  std::vector<bool> is_number;     // a tensor that stands for a number, which has no dtype of its own
};

// What a first look at a call says.
struct Look {
  bool is_strange = false;     // has arguments that are not plain tensors on the CPU or a CUDA device
  bool is_on_device = false;   // computes something on the device
  bool has_large = false;      // reads a tensor that is over the bounds
  bool has_unknown = false;    // reads small ones of which nothing is known
  State state = State::known;  // of the small ones
};

Look look_at(const Operator& op, c10::ArrayRef<const c10::IValue> inputs, const Bounds& bounds);

std::vector<Argument> describe(c10::ArrayRef<const c10::IValue> inputs);

// The arguments on the CPU, with what is in device memory now; what is only written is there, uninitialized.
// `state` becomes the worst of what is read. Unknown elements get what they are taken for, and keep it.
torch::jit::Stack read_all(const Operator& op, const std::vector<Argument>& arguments, State& state);

// Of lists whose elements are operations of their own: the positions at which all lists have small elements
// of which something is known.
std::vector<std::size_t> known_elements(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                                        const Bounds& bounds);
// Keeps those alone.
void choose(std::vector<Argument>& arguments, const std::vector<std::size_t>& elements);

}  // namespace torchmem::values
