#include "values/observer.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/record_function.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>
#include <utility>

#include "values/arguments.h"
#include "values/call.h"
#include "values/captured.h"
#include "values/virtual_device.h"

namespace torchmem::values {
namespace {

Mode the_mode = Mode::none;
Bounds the_bounds;
thread_local Call* innermost = nullptr;

bool writes(const Operator& op, c10::ArrayRef<const c10::IValue> inputs) {
  if (op.written.empty() || !(op.has_kernel || op.is_copy || !op.handle)) return false;
  if (!op.written_if || *op.written_if >= inputs.size()) return true;
  const auto& condition = inputs[*op.written_if];
  return !condition.isBool() || condition.toBool();
}

void forget_written(const Operator& op, c10::ArrayRef<const c10::IValue> inputs) {
  for (const auto position : op.written) {
    if (position >= inputs.size()) continue;
    const auto forget_one = [](const at::Tensor& tensor) {
      if (const auto place = place_of(tensor)) forget(*place);
    };
    if (inputs[position].isTensor()) {
      forget_one(inputs[position].toTensor());
    } else if (inputs[position].isTensorList()) {
      for (const at::Tensor& tensor : inputs[position].toTensorVector()) forget_one(tensor);
    }
  }
}

bool is_capturing() {
  return virtual_device().captures() > 0 &&
         virtual_device().is_captured(c10::cuda::getCurrentCUDAStream().stream());
}

// TorchScript's interpreter shows all of its stack, of which the last values are the operator's.
template <class T>
c10::ArrayRef<T> last(c10::ArrayRef<T> values, std::size_t count) {
  return values.size() > count ? values.slice(values.size() - count) : values;
}

// Null also for tensors that are like no others: their values are not known, but what is written still is
// forgotten.
std::unique_ptr<Call> follow(const Operator& op, c10::ArrayRef<const c10::IValue> inputs, bool capturing) {
  try {
    return begin_call(op, inputs, the_bounds, capturing);
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::unique_ptr<at::ObserverContext> begin_operator(const at::RecordFunction& fn) {
  const Operator& op = operator_of(fn);
  const auto inputs = last(fn.inputs(), op.handle ? op.arguments : fn.inputs().size());
  std::unique_ptr<Call> call;
  const bool capturing = is_capturing();
  // What an operator that is captured is made of is part of it.
  if (capturing && innermost != nullptr && innermost->is_captured) return nullptr;
  if (op.handle && the_mode != Mode::none) call = follow(op, inputs, capturing);
  if (!capturing && writes(op, inputs)) forget_written(op, inputs);
  if (!call && op.read) call = std::make_unique<Call>(op);
  if (call) {
    if (op.read && *op.read < inputs.size() && inputs[*op.read].isTensor() &&
        inputs[*op.read].toTensor().defined())
      call->read_dtype = inputs[*op.read].toTensor().scalar_type();
    call->outer = std::exchange(innermost, call.get());
  }
  return call;
}

void end_operator(const at::RecordFunction& fn, at::ObserverContext* context) {
  auto* call = static_cast<Call*>(context);
  if (call != nullptr) innermost = call->outer;
  if (the_mode == Mode::none) return;
  const Operator& op = call != nullptr ? call->op : operator_of(fn);
  if (call == nullptr && innermost != nullptr && innermost->is_captured) return;
  if (!op.handle || (!op.is_computed && !op.has_kernel && !op.reads_back && !op.looks_for_overflow)) return;
  const auto outputs = last(c10::ArrayRef<c10::IValue>(fn.outputs()), op.returns);
  if (call != nullptr && call->is_captured) {
    capture_call(std::move(*call), outputs, c10::cuda::getCurrentCUDAStream().stream(), the_bounds);
  } else {
    end_call(op, call, outputs, the_bounds);
  }
}

// PyTorch would show the program's user what an observer throws.
std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
  try {
    return begin_operator(fn);
  } catch (const std::exception&) {
    return nullptr;
  }
}

void end(const at::RecordFunction& fn, at::ObserverContext* context) {
  try {
    end_operator(fn, context);
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace

std::optional<Mode> parse_mode(const std::string& word) {
  if (word == "none") return Mode::none;
  if (word == "small") return Mode::small;
  if (word == "all") return Mode::all;
  return std::nullopt;
}

void follow_values(Mode mode) {
  if (!virtual_device().present()) return;
  the_mode = mode;
  if (mode == Mode::all) the_bounds.integers = the_bounds.floats = std::size_t{1} << 48;
  at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                            .needsInputs(true)
                            .needsOutputs(mode != Mode::none)
                            .scopes({at::RecordScope::FUNCTION}));
}

Reading current_reading() {
  Reading reading;
  if (innermost == nullptr) return reading;
  reading.op = innermost->op.name;
  reading.dtype = innermost->read_dtype;
  for (const Call* call = innermost; call != nullptr; call = call->outer) {
    if (call->op.name == "aten::_linalg_check_errors") reading.is_status = true;
    if (call->op.is_truth) reading.is_truth = true;
    if (!call->answer) continue;
    // The outermost one that is computed: nms reads its size through the operators that it is made of.
    if (reading.answer && !call->results) continue;
    reading.answer = call->answer;
    reading.is_known = call->results && call->state == State::known;
  }
  return reading;
}

}  // namespace torchmem::values
