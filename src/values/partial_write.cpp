#include "values/partial_write.h"

#include <ATen/Functions.h>

#include "values/compute.h"
#include "values/virtual_device.h"

namespace torchmem::values {
namespace {

constexpr std::int64_t most_elements = 1 << 14;  // each of them is asked for

// Calls `visit(index in memory order of the sizes, address)` for each element.
template <class Visit>
void for_each_element(const Place& place, Visit&& visit) {
  c10::DimVector index(place.sizes.size(), 0);
  const std::int64_t elements = place.elements();
  for (std::int64_t i = 0; i < elements; ++i) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * place.strides[d];
    visit(i, place.address + static_cast<std::uint64_t>(offset) * place.item_bytes());
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == place.sizes[d];) index[d] = 0;
  }
}

at::Tensor same(const at::Tensor& a, const at::Tensor& b) {
  at::Tensor equal = at::eq(a, b);
  if (at::isFloatingType(a.scalar_type())) equal = equal.logical_or(a.isnan().logical_and(b.isnan()));
  return equal.contiguous();
}

}  // namespace

bool begin_partial_write(Call& call, c10::ArrayRef<const c10::IValue> inputs, const Bounds& bounds) {
  const auto place = place_of(inputs[0].toTensor());
  if (!place || place->elements() > most_elements || place->conjugate || place->negative) return false;
  const Look others = look_at(call.op, inputs.slice(1), bounds);
  if (others.is_strange || others.has_large || others.has_unknown) return false;
  const Unseen unseen;
  call.arguments = describe(inputs);
  std::vector<Argument> rest(call.arguments.begin() + 1, call.arguments.end());
  call.on_cpu = read_all(call.op, rest, call.state);
  State before = State::known;
  const at::Tensor self = read(*place, before).contiguous();
  at::Tensor unknown = at::zeros(place->sizes, at::kBool);
  bool* is_unknown = unknown.mutable_data_ptr<bool>();
  for_each_element(*place, [&](std::int64_t i, std::uint64_t address) {
    const auto state = static_cast<State>(virtual_device().peek(address, place->item_bytes(), nullptr));
    is_unknown[i] = state == State::unknown;
    if (state == State::assumed) call.state = State::assumed;
  });
  call.on_cpu.insert(call.on_cpu.begin(), self);
  call.other_self = self.masked_fill(unknown, 1);
  return true;
}

void end_partial_write(Call& call) {
  const Unseen unseen;
  torch::jit::Stack other = call.on_cpu;
  other[0] = call.other_self;
  if (!compute(call.op, call.on_cpu, call.seed) || !compute(call.op, std::move(other), call.seed)) return;
  const at::Tensor values = call.on_cpu[0].toTensor();
  const at::Tensor is_same = same(values, call.other_self);
  const Place& place = *call.arguments[0].places[0];
  const auto* bytes = static_cast<const char*>(values.const_data_ptr());
  const bool* known = is_same.const_data_ptr<bool>();
  for_each_element(place, [&](std::int64_t i, std::uint64_t address) {
    if (known[i])
      virtual_device().poke(address, place.item_bytes(),
                            bytes + static_cast<std::size_t>(i) * place.item_bytes(),
                            static_cast<int>(call.state));
  });
}

}  // namespace torchmem::values
