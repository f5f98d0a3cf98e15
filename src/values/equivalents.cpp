#include "values/equivalents.h"

#include <ATen/Functions.h>

#include <utility>

namespace torchmem::values {
namespace {

using torch::jit::Stack;

std::optional<at::Tensor> optional_tensor(const c10::IValue& value) {
  return value.isTensor() ? std::optional(value.toTensor()) : std::nullopt;
}

// Its reserve is cuDNN's own: nothing that the CPU's backward needs.
void batch_norm(Stack& stack) {
  auto [output, mean, deviation] = at::native_batch_norm(
      stack[0].toTensor(), optional_tensor(stack[1]), optional_tensor(stack[2]), optional_tensor(stack[3]),
      optional_tensor(stack[4]), stack[5].toBool(), stack[6].toDouble(), stack[7].toDouble());
  stack = {output, mean, deviation, at::empty({0}, at::kByte)};
}

// cuDNN's is asked for in training alone.
void batch_norm_backward(Stack& stack) {
  auto [input, weight, bias] = at::native_batch_norm_backward(
      stack[1].toTensor(), stack[0].toTensor(), optional_tensor(stack[2]), optional_tensor(stack[3]),
      optional_tensor(stack[4]), optional_tensor(stack[5]), optional_tensor(stack[6]), /*train=*/true,
      stack[7].toDouble(), {true, true, true});
  stack = {input, weight, bias};
}

// The CPU has it for floats alone.
void histogram(Stack& stack) {
  const at::Tensor self = stack[0].toTensor();
  stack = {at::histc(self.to(at::kDouble), stack[1].toInt(), stack[2].toScalar(), stack[3].toScalar())
               .to(self.scalar_type())};
}

struct Equivalent {
  const char* name;
  void (*call)(Stack&);
};
constexpr Equivalent equivalents[] = {
    {"aten::cudnn_batch_norm", batch_norm},
    {"aten::cudnn_batch_norm_backward", batch_norm_backward},
    {"aten::histc", histogram},
};

}  // namespace

bool has_equivalent(const std::string& name) {
  for (const auto& equivalent : equivalents) {
    if (name == equivalent.name) return true;
  }
  return false;
}

void call_equivalent(const std::string& name, Stack& stack) {
  for (const auto& equivalent : equivalents) {
    if (name == equivalent.name) equivalent.call(stack);
  }
}

}  // namespace torchmem::values
