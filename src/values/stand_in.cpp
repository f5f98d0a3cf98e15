#include "values/stand_in.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace torchmem::values {
namespace {

constexpr std::int64_t block_elements = 1 << 16;  // elements after which the floats begin anew

// The first block_elements floats that stand for unknown ones.
at::Tensor unknown_floats(at::ScalarType dtype) {
  const at::Tensor order = at::arange(block_elements, at::kLong).mul(40503).remainder(block_elements);
  return order.to(at::kDouble).div(2 * block_elements).add(1).to(dtype);
}

bool is_quantity(at::ScalarType dtype) { return at::isFloatingType(dtype) || at::isComplexType(dtype); }

const at::Tensor& floats_of(at::ScalarType dtype) {
  static auto* made = new std::array<at::Tensor, static_cast<std::size_t>(at::ScalarType::NumOptions)>;
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  auto& tensor = (*made)[static_cast<std::size_t>(dtype)];
  if (!tensor.defined()) tensor = unknown_floats(dtype);
  return tensor;
}

// A number on its own is a loss or a norm as a rule, and goes down: what stops when it no longer does, or
// waits until it is small, then does as in a run that learns.
double next_number() {
  constexpr double step = 0.99;
  constexpr double least = 1e-6;
  static std::atomic<double> next{1.0};
  const double number = next.load();
  next.store(std::max(number * step, least));
  return number;
}

}  // namespace

void fill_unknown(at::ScalarType dtype, void* to, std::size_t bytes) {
  if (!is_quantity(dtype)) {
    std::memset(to, dtype == at::kBool ? 1 : 0, bytes);
    return;
  }
  if (bytes == c10::elementSize(dtype)) {
    const at::Tensor number = at::full({1}, next_number(), at::TensorOptions(at::kDouble)).to(dtype);
    std::memcpy(to, number.const_data_ptr(), bytes);
    return;
  }
  const at::Tensor& floats = floats_of(dtype);
  const auto* from = static_cast<const char*>(floats.const_data_ptr());
  auto* into = static_cast<char*>(to);
  const std::size_t block = floats.nbytes();
  for (std::size_t done = 0; done < bytes; done += block)
    std::memcpy(into + done, from, std::min(block, bytes - done));
}

std::int64_t count_of(std::int64_t elements) { return (elements + 1) / 2; }

at::Tensor stand_in(const Operator& op, at::ScalarType dtype, at::IntArrayRef sizes, std::int64_t extent) {
  const auto options = at::TensorOptions(dtype);
  if (dtype == at::kBool) return at::full(sizes, op.stand_in != StandIn::is_false, options);
  if (op.stand_in == StandIn::count) return at::full(sizes, count_of(extent), options);
  if (op.stand_in != StandIn::index || extent < 1) return at::zeros(sizes, options);
  // Neither the first nor the last one, which often mean something else (padding, the end of a text); in
  // an order they are all different.
  const std::int64_t elements = c10::multiply_integers(sizes);
  return at::arange(elements, at::kLong).add(extent / 3).remainder(extent).to(dtype).view(sizes);
}

std::string text_of(at::ScalarType dtype, const void* value) {
  const at::Tensor one = at::detail::empty_cpu({1}, dtype);
  std::memcpy(one.data_ptr(), value, one.itemsize());
  if (dtype == at::kBool) return one.item<bool>() ? "true" : "false";
  if (at::isIntegralType(dtype, false)) return std::to_string(one.item<std::int64_t>());
  if (!at::isFloatingType(dtype)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", one.item<double>());
  return text;
}

}  // namespace torchmem::values
