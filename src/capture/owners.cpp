#include "capture/owners.h"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

#include "capture/call_site.h"
#include "capture/dtype.h"
#include "capture/held.h"
#include "capture/operator_tracking.h"
#include "values/tensor_memory.h"

namespace torchmem::capture {
namespace {

// The strength of a claim: the lower, the stronger.
constexpr std::array<Category, 8> claims = {
    Category::parameters, Category::buffers, Category::gradients,   Category::optimizer_state,
    Category::inputs,     Category::outputs, Category::activations, Category::workspaces,
};

std::size_t rank(Category category) {
  std::size_t i = 0;
  while (i < claims.size() && claims[i] != category) ++i;
  return i;
}

bool is_exception_under_way() {
  return std::uncaught_exceptions() > 0 || std::current_exception() != nullptr;
}

// What the step that is under way on this thread allocated, and the step that last ran out of memory there.
struct StepState {
  std::uint64_t step = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> made;  // addresses, and the events' indices
  std::uint64_t out_of_memory = 0;
};

StepState& step_state() {
  thread_local StepState state;
  if (state.step != current_step()) {
    state.step = current_step();
    state.made.clear();
  }
  return state;
}

template <class Values, class Use>
void for_each_tensor(const Values& values, const Use& use) {
  for (const auto& value : values) {
    if (value.isTensor()) {
      use(value.toTensor());
    } else if (value.isList()) {  // elements of an optional type may be None
      for (const c10::IValue& element : value.toListRef()) {
        if (element.isTensor()) use(element.toTensor());
      }
    }
  }
}

}  // namespace

void Owners::allocated(std::uint64_t address, std::uint64_t event) {
  Live live;
  live.event = event;
  live.birth = current_step();
  live.last_use = live.birth;
  live.born_in_backward = is_in_backward();
  live.accumulated = program_ && is_accumulating();
  if (program_) step_state().made.emplace_back(address, event);
  const std::lock_guard lock(mutex_);
  live_[address] = live;
}

void Owners::freed(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  const Live live = found->second;
  live_.erase(found);
  if (live.category != Category::other || has_ended_) return;
  if (program_ && !live.born_in_backward && is_in_backward()) {
    tell(live, Category::activations);
  } else if (live.last_use == current_step()) {
    tell(live, Category::temporaries);
  } else if (live.accumulated) {
    tell(live, Category::gradients);
  } else if (live.is_weight) {
    tell(live, Category::parameters);
  } else if (is_exception_under_way() || step_state().out_of_memory == current_step()) {
    tell(live, Category::temporaries);
  } else if (live.tensor != no_tensor) {
    tell(live, Category::other);
  }
}

void Owners::used(c10::ArrayRef<const c10::IValue> inputs, c10::ArrayRef<c10::IValue> weights) {
  const std::uint64_t step = current_step();
  const bool accumulates = program_ && is_accumulating();
  if (program_) look_up(inputs);
  const std::lock_guard lock(mutex_);
  for_each_tensor(inputs, [&](const at::Tensor& input) { use(input, step, accumulates); });
  for (const c10::IValue& weight : weights) {
    Live* live = weight.isTensor() && weight.toTensor().defined() ? find(weight.toTensor()) : nullptr;
    if (live != nullptr && weight.toTensor().is_leaf()) live->is_weight = true;
  }
}

void Owners::look_up(c10::ArrayRef<const c10::IValue> inputs) {
  std::vector<const at::Tensor*> unknown;
  {
    const std::lock_guard lock(mutex_);
    for_each_tensor(inputs, [&](const at::Tensor& input) {
      Live* live = find(input);
      if (live == nullptr || rank(live->category) <= rank(Category::buffers) || !input.is_leaf()) return;
      const void* tensor = input.unsafeGetTensorImpl();
      if (std::exchange(live->looked_up, tensor) == tensor) return;
      unknown.push_back(&input);
    });
  }
  for (const at::Tensor* tensor : unknown) {
    held_beside(*tensor, [this](const at::Tensor& held, std::string_view category, std::string_view name) {
      take_held(held, category, name);
    });
  }
}

void Owners::take_held(const at::Tensor& tensor, std::string_view category, std::string_view name) {
  if (category == "parameters") {
    claim(tensor, Category::parameters, name);
  } else if (category == "buffers") {
    claim(tensor, Category::buffers, name);
  } else if (category == "temporaries") {
    const std::lock_guard lock(mutex_);
    Live* live = find(tensor);
    if (live == nullptr || live->category != Category::other) return;
    if (live->tensor == no_tensor) live->tensor = describe("", tensor);
    settle(*live, Category::temporaries);
  }
}

void Owners::use(const at::Tensor& tensor, std::uint64_t step, bool accumulates) {
  Live* live = find(tensor);
  if (live == nullptr) return;
  live->last_use = step;
  live->accumulated = live->accumulated || accumulates;
  // A gradient of a gradient's graph was saved, and is a gradient all the same.
  if (accumulates && live->category == Category::activations) live->category = Category::other;
  if (program_ && live->category == Category::other && tensor.is_leaf() && tensor.requires_grad()) {
    live->tensor = describe("", tensor);
    settle(*live, Category::parameters);
  }
  if (live->tensor == no_tensor) live->tensor = describe("", tensor);
}

void Owners::left_behind(c10::ArrayRef<c10::IValue> results) {
  StepState& state = step_state();
  if (state.made.empty()) return;
  const StackId stack = current_stack(writer_);
  const std::lock_guard lock(mutex_);
  std::vector<const Live*> given;
  for_each_tensor(results, [&](const at::Tensor& result) { given.push_back(find(result)); });
  for (const auto& [address, event] : state.made) {
    const auto found = live_.find(address);
    if (found == live_.end() || found->second.event != event) continue;
    Live& live = found->second;
    if (live.category != Category::other || live.accumulated) continue;
    if (std::find(given.begin(), given.end(), &live) != given.end()) continue;
    live.category = Category::activations;
    tell(live, live.category, stack);
  }
}

void Owners::out_of_memory() { step_state().out_of_memory = current_step(); }

void Owners::saved(const at::Tensor& tensor) {
  const StackId stack = current_stack(writer_);
  const std::lock_guard lock(mutex_);
  Live* live = find(tensor);
  if (live == nullptr || rank(live->category) <= rank(Category::activations) || live->accumulated) return;
  live->category = Category::activations;
  live->tensor = describe("", tensor);
  tell(*live, live->category, stack);
}

void Owners::claim(const at::Tensor& tensor, Category category, std::string_view name) {
  claim_as(tensor, category, name, tensor.sizes());
}

void Owners::claim_whole(const at::Tensor& tensor, Category category, std::string_view name) {
  const auto elements = static_cast<std::int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  claim_as(tensor, category, name, elements);
}

void Owners::claim_as(const at::Tensor& tensor, Category category, std::string_view name,
                      c10::IntArrayRef shape) {
  const std::lock_guard lock(mutex_);
  Live* live = find(tensor);
  if (live == nullptr || rank(live->category) <= rank(category)) return;
  live->category = category;
  live->tensor = intern(name, dtype_name(tensor.scalar_type()), shape);
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

void Owners::program_ends() {
  held_at_exit([this](const at::Tensor& held, std::string_view category, std::string_view name) {
    take_held(held, category, name);
  });
  finish();
}

void Owners::finish() {
  const std::lock_guard lock(mutex_);
  if (has_ended_) return;
  has_ended_ = program_;
  for (auto& [address, live] : live_) {
    if (live.category != Category::other) continue;
    if (live.accumulated) {
      settle(live, Category::gradients);
    } else if (live.is_weight) {
      settle(live, Category::parameters);
    } else if (live.tensor != no_tensor) {
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
  const auto [slot, inserted] = tensors_.try_emplace(std::move(key), no_tensor);
  if (inserted) slot->second = writer_.tensor(name, dtype, shape.vec());
  return slot->second;
}

void Owners::tell(const Live& live, Category category, StackId saved_by) {
  writer_.owner(live.event, name_of(category), live.tensor, saved_by);
}

}  // namespace torchmem::capture
