#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "values/arguments.h"
#include "values/operator.h"

namespace torchmem::values {

// One call of an operator between its begin and its end, as far as its values go.
struct Call : at::ObserverContext {
  explicit Call(const Operator& the_op) : op(the_op) {}

  const Operator& op;
  Call* outer = nullptr;  // the call that this one is made in, of those that are followed
  std::vector<Argument> arguments;
  torch::jit::Stack on_cpu;  // the arguments' values; empty when it cannot be computed
  at::Tensor other_self;     // of an operator that writes parts of unknown memory (partial_write.h)
  State state = State::unknown;
  std::uint64_t seed = 0;
  std::vector<std::size_t> elements;  // of its lists, the ones that are computed
  std::optional<torch::jit::Stack> results;
  std::optional<std::int64_t> answer;  // the number that it reads back from the device
  std::optional<std::int64_t> extent;  // of what a stand-in for its result is in (stand_in.h)
  at::ScalarType read_dtype = at::kByte;
  bool is_captured = false;  // it happens when the graph is launched
};

// Null when nothing is to be done at its end but to look at what came out.
std::unique_ptr<Call> begin_call(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                                 const Bounds& bounds, bool capturing);

// Computes what can be computed and puts it where the device would have; what cannot, and may be looked at,
// gets what it is taken for. `call` may be null.
void end_call(const Operator& op, Call* call, c10::ArrayRef<c10::IValue> outputs, const Bounds& bounds);

// Puts the results of `compute` into device memory; `outputs` are the places of the operator's returns.
void write_results(const Operator& op, const std::vector<Argument>& arguments,
                   const torch::jit::Stack& on_cpu, const torch::jit::Stack& results,
                   const std::vector<std::optional<Place>>& outputs, State state);

// The places of all tensors of the operator's returns, lists in a row.
std::vector<std::optional<Place>> places_of(c10::ArrayRef<c10::IValue> outputs);

}  // namespace torchmem::values
