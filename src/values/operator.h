#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace torchmem::values {

// What an operator's integers or booleans are taken for when it was given values that nobody knows
// (stand_in.h).
enum class StandIn : std::uint8_t {
  is_true,   // booleans; integers are 0
  is_false,  // booleans; integers are 0
  index,     // positions in the dimension that is reduced or ordered
  count,     // of elements that are true: half of them
};

// One overload of an operator, as far as its values go. Made at its first call, kept for good.
struct Operator {
  std::string name;  // "aten::add"
  std::optional<c10::OperatorHandle> handle;
  // Positions of the arguments that it writes (in place, or out=), also where its schema does not say so.
  std::vector<std::uint32_t> written;
  // Of those, the ones whose earlier contents do not matter.
  std::vector<std::uint32_t> overwritten;
  // Only written when this argument is true: batch norm's running statistics.
  std::optional<std::uint32_t> written_if;
  // The CPU has a kernel for it that means the same; it is no view and no allocation.
  bool is_computed = false;
  // It has a kernel of its own, so that what is in its results is not known unless it was computed. Of
  // others, those that they are made of write what they write.
  bool has_kernel = false;
  // A copy, which the device may do by itself.
  bool is_copy = false;
  std::size_t arguments = 0;  // as many values on TorchScript's stack are its own
  std::size_t returns = 0;
  // Its first argument is made to hold one value.
  bool is_fill = false;
  // It draws random numbers, from the generator at this position.
  bool is_random = false;
  std::optional<std::uint32_t> generator;
  // It reads a number back from the device: its result, or the size of it. The size is that of the first
  // dimension of its first result; the argument at `size_dimension_at` says which one, if it is set.
  bool reads_back = false;
  std::optional<std::uint32_t> size_dimension_at;
  // It copies to the host, and what it reads is the argument at this position.
  std::optional<std::uint32_t> read;
  // It asks whether its argument is true.
  bool is_truth = false;
  // Each element of its lists is an operation of its own.
  bool is_foreach = false;
  // The CPU's kernel was seen to read beyond an element that stands for many.
  bool wants_own_elements = false;
  // It writes part of its first argument, or all of it: of memory that nobody has written yet, what it wrote
  // is known and the rest is not.
  bool writes_parts = false;
  // Gradients that may overflow are looked at: `found_inf` stays what it was where nobody knows.
  bool looks_for_overflow = false;
  StandIn stand_in = StandIn::is_true;
  std::optional<std::uint32_t> dimension;  // the argument `dim`
  // Integers or booleans come of floats: a comparison, argmax.
  bool compares = false;

  bool overwrites(std::uint32_t position) const;
};

// The operator of an event in FUNCTION scope. Found by the addresses of its names, which live as long as the
// process, without a lock as a rule.
const Operator& operator_of(const at::RecordFunction& fn);

}  // namespace torchmem::values
