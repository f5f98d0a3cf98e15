#include "capture/owners.h"

#include <array>
#include <exception>

#include "capture/call_site.h"
#include "capture/dtype.h"
#include "values/tensor_memory.h"

namespace torchmem::capture {
namespace {

/// The strength of a claim: the lower, the stronger.
constexpr std::array<Category, 8> kClaims = {
    Category::parameters, Category::buffers, Category::gradients,   Category::optimizer_state,
    Category::inputs,     Category::outputs, Category::activations, Category::workspaces,
};

std::size_t rank(Category category) {
  std::size_t i = 0;
  while (i < kClaims.size() && kClaims[i] != category) ++i;
  return i;
}

bool is_exception_under_way() {
  return std::uncaught_exceptions() > 0 || std::current_exception() != nullptr;
}

}  // namespace

void Owners::allocated(std::uint64_t address, std::uint64_t event) {
  Live live;
  live.event = event;
  live.birth = current_step();
  live.last_use = live.birth;
  live.born_in_backward = is_in_backward();
  live.accumulated = program_ && is_accumulating();
  const std::lock_guard lock(mutex_);
  live_[address] = live;
}

void Owners::freed(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  const Live live = found->second;
  live_.erase(found);
  if (live.category != Category::other) return;
  if (program_ && !live.born_in_backward && is_in_backward()) {
    tell(live, Category::activations);
  } else if (live.last_use == current_step()) {
    tell(live, Category::temporaries);
  } else if (live.accumulated) {
    tell(live, Category::gradients);
  } else if (is_exception_under_way()) {
    tell(live, Category::temporaries);
  } else if (live.tensor != kNoTensor) {
    tell(live, Category::other);
  }
}

void Owners::used(c10::ArrayRef<const c10::IValue> inputs) {
  const std::uint64_t step = current_step();
  const bool accumulates = program_ && is_accumulating();
  const std::lock_guard lock(mutex_);
  for (const auto& input : inputs) {
    if (input.isTensor()) {
      use(input.toTensor(), step, accumulates);
    } else if (input.isList()) {  // elements of an optional type may be None
      for (const c10::IValue& element : input.toListRef()) {
        if (element.isTensor()) use(element.toTensor(), step, accumulates);
      }
    }
  }
}

void Owners::use(const at::Tensor& tensor, std::uint64_t step, bool accumulates) {
  Live* live = find(tensor);
  if (live == nullptr) return;
  live->last_use = step;
  live->accumulated = live->accumulated || accumulates;
  if (program_ && live->category == Category::other && tensor.is_leaf() && tensor.requires_grad()) {
    live->tensor = describe("", tensor);
    settle(*live, Category::parameters);
  }
  if (live->tensor == kNoTensor) live->tensor = describe("", tensor);
}

void Owners::saved(const at::Tensor& tensor) {
  const StackId stack = current_stack(writer_);
  const std::lock_guard lock(mutex_);
  Live* live = find(tensor);
  if (live == nullptr || rank(live->category) <= rank(Category::activations)) return;
  live->category = Category::activations;
  live->tensor = describe("", tensor);
  tell(*live, live->category, stack);
}

void Owners::claim(const at::Tensor& tensor, Category category, std::string_view name) {
  const std::lock_guard lock(mutex_);
  Live* live = find(tensor);
  if (live == nullptr || rank(live->category) <= rank(category)) return;
  live->category = category;
  live->tensor = describe(name, tensor);
  tell(*live, category);
}

void Owners::claim_workspace(const void* memory, std::string_view library) {
  if (memory == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(reinterpret_cast<std::uint64_t>(memory));
  if (found == live_.end() || rank(found->second.category) <= rank(Category::workspaces)) return;
  found->second.category = Category::workspaces;
  found->second.tensor = intern(library, "", {});
  tell(found->second, Category::workspaces);
}

void Owners::optimizer_step_ended(std::uint64_t step) {
  const std::lock_guard lock(mutex_);
  for (auto& [address, live] : live_) {
    if (live.category == Category::other && live.birth == step) settle(live, Category::optimizer_state);
  }
}

void Owners::finish() {
  const std::lock_guard lock(mutex_);
  for (auto& [address, live] : live_) {
    if (live.category != Category::other) continue;
    if (live.accumulated) {
      settle(live, Category::gradients);
    } else if (live.tensor != kNoTensor) {
      tell(live, Category::other);
    }
  }
}

void Owners::settle(Live& live, Category category) {
  live.category = category;
  tell(live, category);
}

Owners::Live* Owners::find(const at::Tensor& tensor) {
  const auto address = values::storage_address(tensor);
  if (address == 0) return nullptr;
  const auto found = live_.find(address);
  return found == live_.end() ? nullptr : &found->second;
}

TensorId Owners::describe(std::string_view name, const at::Tensor& tensor) {
  return intern(name, dtype_name(tensor.scalar_type()), tensor.sizes());
}

TensorId Owners::intern(std::string_view name, std::string_view dtype, c10::IntArrayRef shape) {
  std::string key(name);
  key.push_back('\0');
  key.append(dtype);
  key.append(reinterpret_cast<const char*>(shape.data()), shape.size() * sizeof(std::int64_t));
  const auto [slot, inserted] = tensors_.try_emplace(std::move(key), kNoTensor);
  if (inserted) slot->second = writer_.tensor(name, dtype, shape.vec());
  return slot->second;
}

void Owners::tell(const Live& live, Category category, StackId saved_by) {
  writer_.owner(live.event, name_of(category), live.tensor, saved_by);
}

}  // namespace torchmem::capture
