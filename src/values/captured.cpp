#include "values/captured.h"

#include <algorithm>
#include <utility>

#include "values/compute.h"
#include "values/observer.h"
#include "values/virtual_device.h"

namespace torchmem::values {
namespace {

// A call as the graph has it: everything by its place.
struct Captured {
  const Operator& op;
  std::vector<Argument> arguments;
  std::vector<std::optional<Place>> outputs;
  Bounds bounds;
  std::uint64_t launches = 0;
};

bool is_small(const Captured& captured) {
  const auto admitted = [&](const std::optional<Place>& place) {
    return !place || captured.bounds.admit(*place);
  };
  for (std::uint32_t i = 0; i < captured.arguments.size(); ++i) {
    for (const auto& place : captured.arguments[i].places) {
      if (!admitted(place)) return false;
      if (place && !captured.op.overwrites(i) && state_of(*place) == State::unknown) return false;
    }
  }
  return std::all_of(captured.outputs.begin(), captured.outputs.end(), admitted);
}

void forget_all(const Captured& captured) {
  for (const auto position : captured.op.written) {
    if (position >= captured.arguments.size()) continue;
    for (const auto& place : captured.arguments[position].places) {
      if (place) forget(*place);
    }
  }
  for (const auto& place : captured.outputs) {
    if (place) forget(*place);
  }
}

}  // namespace

void capture_call(Call&& call, c10::ArrayRef<c10::IValue> outputs, void* stream, const Bounds& bounds) {
  for (Argument& argument : call.arguments) {
    for (at::Tensor& tensor : argument.on_cpu) {  // a number, as it is now
      if (tensor.defined()) {
        const Unseen unseen;
        tensor = tensor.clone();
      }
    }
  }
  auto* captured = new Captured{call.op, std::move(call.arguments), places_of(outputs), bounds};
  virtual_device().capture_work(stream, captured);
}

void launch_captured(void* work) {
  auto& captured = *static_cast<Captured*>(work);
  ++captured.launches;
  const bool small = captured.op.is_computed && is_small(captured);
  State state = State::known;
  const Unseen unseen;
  torch::jit::Stack on_cpu;
  if (small) on_cpu = read_all(captured.op, captured.arguments, state);
  forget_all(captured);
  if (!small) return;
  if (captured.op.is_random) state = State::assumed;
  const auto results = compute(captured.op, on_cpu, captured.launches);
  if (results) write_results(captured.op, captured.arguments, on_cpu, *results, captured.outputs, state);
}

void drop_captured(void* work) { delete static_cast<Captured*>(work); }

}  // namespace torchmem::values
