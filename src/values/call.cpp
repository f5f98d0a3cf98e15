#include "values/call.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>

#include <algorithm>

#include "values/compute.h"
#include "values/partial_write.h"
#include "values/stand_in.h"
#include "values/tensor_memory.h"
#include "values/virtual_device.h"

namespace torchmem::values {
namespace {

// Of a draw: the device's generator's seed and how far it has come, so that the same program draws the same.
std::uint64_t seed_of(const Operator& op, c10::ArrayRef<const c10::IValue> inputs) {
  constexpr std::uint64_t mix = 0x9e3779b97f4a7c15;
  try {
    at::Generator generator;
    if (op.generator && *op.generator < inputs.size() && inputs[*op.generator].isGenerator())
      generator = inputs[*op.generator].toGenerator();
    if (!generator.defined()) generator = at::globalContext().defaultGenerator(c10::Device(c10::kCUDA));
    const std::uint64_t offset = generator.device().is_cuda() ? generator.get_offset() : 0;
    return generator.current_seed() ^ (offset + 1) * mix;
  } catch (const std::exception&) {
    return mix;  // a generator that is being captured does not say
  }
}

// The size of the dimension that an operator reduces or orders; of all elements without one.
std::optional<std::int64_t> extent_of(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                                      const at::Tensor& self) {
  if (op.dimension && *op.dimension < inputs.size() && inputs[*op.dimension].isInt() && self.dim() > 0)
    return self.size(inputs[*op.dimension].toInt());
  if (op.name == "aten::multinomial" && self.dim() > 0) return self.size(-1);
  return self.numel();
}

std::optional<std::int64_t> number_read_back(const Operator& op, const torch::jit::Stack& on_cpu,
                                             const torch::jit::Stack& results) {
  if (results.empty()) return std::nullopt;
  if (results[0].isBool()) return results[0].toBool();
  // Of truth values it counts those that are true.
  if (op.name.starts_with("aten::_unique") && on_cpu[0].toTensor().scalar_type() == at::kBool)
    return on_cpu[0].toTensor().sum().item<std::int64_t>();
  if (!results[0].isTensor()) return std::nullopt;
  const at::Tensor& first = results[0].toTensor();
  std::int64_t dimension = 0;
  if (op.size_dimension_at && on_cpu.at(*op.size_dimension_at).isInt())
    dimension = on_cpu[*op.size_dimension_at].toInt();
  return first.dim() == 0 ? first.numel() : first.size(dimension);
}

// For what has to be known while the operator runs: the number that it is about to read back.
void answer(Call& call, const at::Tensor& self) {
  if (!call.on_cpu.empty()) {
    call.results = compute(call.op, call.on_cpu, call.seed);
    if (call.results) call.answer = number_read_back(call.op, call.on_cpu, *call.results);
  }
  if (!call.answer && call.op.name == "aten::equal") {
    call.answer = 0;
  } else if (!call.answer) {
    const bool counts_rows = call.op.name == "torchvision::nms" && self.dim() > 0;
    call.answer = count_of(counts_rows ? self.size(0) : self.numel());
  }
}

void add_places(const c10::IValue& value, std::vector<std::optional<Place>>& places) {
  if (value.isTensor()) {
    places.push_back(place_of(value.toTensor()));
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) places.push_back(place_of(tensor));
  }
}

void add_tensors(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
  }
}

bool fits(const Place& place, const at::Tensor& values) {
  return values.defined() && values.scalar_type() == place.dtype &&
         values.sizes() == at::IntArrayRef(place.sizes);
}

bool are_all_there(const std::vector<std::optional<Place>>& places) {
  return std::all_of(places.begin(), places.end(),
                     [](const auto& place) { return !place || state_of(*place) != State::unknown; });
}

bool are_admitted(const std::vector<std::optional<Place>>& places, const Bounds& bounds) {
  return std::all_of(places.begin(), places.end(),
                     [&](const auto& place) { return !place || bounds.admit(*place); });
}

// A large tensor of one value: its size costs nothing.
bool fill(Call& call, const std::vector<std::optional<Place>>& places) {
  if (places.size() != 1 || !places[0]) return false;
  at::Tensor value = at::zeros({1}, places[0]->dtype);
  if (call.op.name == "aten::fill_") {
    const auto& given = call.on_cpu.at(1);
    if (given.isTensor())
      value.copy_(given.toTensor());
    else
      value.fill_(given.toScalar());
  }
  return write_all(*places[0], value, call.state);
}

// Integers and truth values that nobody knows are taken for something at once, since what is computed from
// them decides sizes and branches; floats wait until they are looked at.
void assume_results(const Operator& op, const Call* call, const std::vector<std::optional<Place>>& places,
                    const Bounds& bounds) {
  for (const auto& place : places) {
    if (!place || !is_integer(place->dtype) || place->elements() == 0 || !bounds.admit(*place) ||
        state_of(*place) != State::unknown)
      continue;
    const Unseen unseen;
    std::int64_t extent = call != nullptr ? call->extent.value_or(0) : 0;
    if (op.stand_in == StandIn::count) extent /= std::max<std::int64_t>(1, place->elements());
    write(*place, stand_in(op, place->dtype, place->sizes, extent), State::assumed);
  }
}

bool decides_integers(const Operator& op, c10::ArrayRef<const c10::IValue> inputs) {
  if (op.name == "aten::copy_") return inputs[0].isTensor() && is_integer(inputs[0].toTensor().scalar_type());
  return op.compares;
}

// A sparse tensor's own elements are not followed; that it has none twice is likely.
std::unique_ptr<Call> begin_coalesce(const Operator& op, c10::ArrayRef<const c10::IValue> inputs) {
  if (inputs.empty() || !inputs[0].isTensor() || !inputs[0].toTensor().is_cuda() ||
      !inputs[0].toTensor().is_sparse())
    return nullptr;
  auto call = std::make_unique<Call>(op);
  call->answer = inputs[0].toTensor()._nnz();
  return call;
}

}  // namespace

std::vector<std::optional<Place>> places_of(c10::ArrayRef<c10::IValue> outputs) {
  std::vector<std::optional<Place>> places;
  for (const auto& value : outputs) add_places(value, places);
  return places;
}

std::unique_ptr<Call> begin_call(const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                                 const Bounds& bounds, bool capturing) {
  if (op.name == "aten::_coalesce") return begin_coalesce(op, inputs);
  const bool is_captured = capturing && (op.has_kernel || op.is_copy);
  if (!is_captured && !op.is_computed && !op.reads_back && !op.looks_for_overflow && !op.read) return nullptr;
  const Look look = look_at(op, inputs, bounds);
  if (look.is_strange || !look.is_on_device) return nullptr;
  auto call = std::make_unique<Call>(op);
  if (is_captured) {
    call->arguments = describe(inputs);
    call->is_captured = true;
    return call;
  }
  bool is_useful = false;
  const bool has_self = !inputs.empty() && inputs[0].isTensor() && inputs[0].toTensor().defined();
  if (has_self && (op.stand_in == StandIn::index || op.stand_in == StandIn::count)) {
    call->extent = extent_of(op, inputs, inputs[0].toTensor());
    is_useful = true;
  }
  const auto gather = [&] {
    const Unseen unseen;
    if (op.is_random) call->seed = seed_of(op, inputs);
    call->on_cpu = read_all(op, call->arguments, call->state);
    if (op.is_random) call->state = std::min(call->state, State::assumed);
    is_useful = true;
  };
  if (op.is_foreach) {
    call->elements = known_elements(op, inputs, bounds);
    if (call->elements.empty()) return nullptr;
    call->arguments = describe(inputs);
    choose(call->arguments, call->elements);
    gather();
  } else if (op.writes_parts && !look.has_large && look.has_unknown && has_self) {
    if (!begin_partial_write(*call, inputs, bounds)) return nullptr;
    is_useful = true;
  } else if (!look.has_large && (!look.has_unknown || op.reads_back || decides_integers(op, inputs))) {
    call->arguments = describe(inputs);
    gather();
  }
  if (op.reads_back && has_self) {
    const Unseen unseen;
    answer(*call, inputs[0].toTensor());
    is_useful = true;
  }
  if (op.looks_for_overflow && call->on_cpu.empty() && inputs.size() > 1 && inputs[1].isTensor()) {
    const Unseen unseen;
    if (const auto place = place_of(inputs[1].toTensor())) {
      State state = State::known;
      call->results = torch::jit::Stack{read(*place, state)};
      call->arguments = describe({inputs[1]});
      is_useful = true;
    }
  }
  return is_useful ? std::move(call) : nullptr;
}

void write_results(const Operator& op, const std::vector<Argument>& arguments,
                   const torch::jit::Stack& on_cpu, const torch::jit::Stack& results,
                   const std::vector<std::optional<Place>>& outputs, State state) {
  for (const auto position : op.written) {
    if (position >= arguments.size()) continue;
    std::vector<at::Tensor> tensors;
    add_tensors(on_cpu[position], tensors);
    const auto& places = arguments[position].places;
    for (std::size_t i = 0; i < tensors.size() && i < places.size(); ++i) {
      if (places[i] && fits(*places[i], tensors[i])) write(*places[i], tensors[i], state);
    }
  }
  std::vector<at::Tensor> tensors;
  for (const auto& result : results) add_tensors(result, tensors);
  for (std::size_t i = 0; i < tensors.size() && i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    // Another size or type than the CPU's: what operators within left there is not the result.
    if (fits(*outputs[i], tensors[i]))
      write(*outputs[i], tensors[i], state);
    else
      forget(*outputs[i]);
  }
}

namespace {

// Most results are floats that nobody knows: nothing is to be noted of them but that. False where there is
// more to do.
bool forget_floats(const Operator& op, c10::ArrayRef<c10::IValue> outputs) {
  for (const auto& output : outputs) {
    if (!output.isTensor()) return false;
    const at::Tensor& tensor = output.toTensor();
    if (tensor.defined() && (!at::isFloatingType(tensor.scalar_type()) || tensor.layout() != at::kStrided ||
                             tensor.is_nested() || !tensor.is_contiguous()))
      return false;
  }
  if (!op.has_kernel) return true;
  for (const auto& output : outputs) {
    const at::Tensor& tensor = output.toTensor();
    if (const std::uint64_t storage = storage_address(tensor); storage != 0 && tensor.numel() > 0)
      virtual_device().written(
          storage + static_cast<std::uint64_t>(tensor.storage_offset()) * tensor.itemsize(), tensor.nbytes());
  }
  return true;
}

}  // namespace

void end_call(const Operator& op, Call* call, c10::ArrayRef<c10::IValue> given, const Bounds& bounds) {
  if (call == nullptr && forget_floats(op, given)) return;
  std::vector<std::optional<Place>> outputs = places_of(given);
  if (call != nullptr && op.looks_for_overflow && call->on_cpu.empty() && call->results) {
    const auto& place = call->arguments[0].places[0];
    const Unseen unseen;
    if (place) write(*place, call->results->front().toTensor(), State::assumed);
    return;
  }
  if (call != nullptr && call->other_self.defined()) {
    end_partial_write(*call);
    return;
  }
  if (call != nullptr && !call->on_cpu.empty()) {
    if (!call->elements.empty()) {
      std::vector<std::optional<Place>> chosen;
      for (const std::size_t i : call->elements) {
        if (i < outputs.size()) chosen.push_back(outputs[i]);
      }
      outputs = std::move(chosen);
    }
    const bool has_to_be = outputs.empty() ? !op.written.empty() : op.has_kernel || !are_all_there(outputs);
    if (has_to_be) {
      const Unseen unseen;
      if (op.is_fill && fill(*call, outputs)) return;
      if (are_admitted(outputs, bounds)) {
        if (!call->results) call->results = compute(op, call->on_cpu, call->seed);
        if (call->results)
          write_results(op, call->arguments, call->on_cpu, *call->results, outputs, call->state);
      }
    }
  }
  const bool is_there = call != nullptr && call->results && !call->on_cpu.empty();
  if (op.has_kernel && !is_there) {
    // Operators within may have written there before the kernel did: zeros that it adds to.
    for (const auto& place : outputs) {
      if (place) forget(*place);
    }
  }
  if (op.is_computed || op.reads_back) assume_results(op, call, outputs, bounds);
}

}  // namespace torchmem::values
