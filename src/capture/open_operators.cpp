#include "capture/open_operators.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/place.h"

namespace torchmem::capture {
namespace {

constexpr std::string_view evaluate_node = "autograd::engine::evaluate_function: ";
constexpr std::string_view accumulate = "torch::autograd::AccumulateGrad";

// Never destroyed, because the autograd threads outlive static destructors.
struct Operators {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Operator>> by_name;
};

Operators& operators() {
  static auto* instance = new Operators;
  return *instance;
}

std::atomic<std::uint64_t> steps{0};

}  // namespace

OpenOperators& open_operators() {
  thread_local OpenOperators state;
  return state;
}

// Names of operators lie where they are for good, so most are found by their
// address, without a lock.
Operator* find_operator(const char* name) {
  struct Known {
    const char* name = nullptr;
    Operator* op = nullptr;
  };
  thread_local std::array<Known, 512> known;
  auto& slot = known[(reinterpret_cast<std::uintptr_t>(name) >> 4) % known.size()];
  if (slot.name == name && slot.op->name == name) return slot.op;
  const std::lock_guard lock(operators().mutex);
  auto& entry = operators().by_name[name];
  if (!entry) {
    entry = std::make_unique<Operator>();
    entry->name = name;
    entry->is_backward = entry->name.starts_with(evaluate_node);
    entry->accumulates = entry->is_backward && entry->name.ends_with(accumulate);
  }
  slot = {name, entry.get()};
  return entry.get();
}

void open(Operator* op, OpenOperators& state) {
  if (std::exchange(state.began_unseen, false)) state.open.clear();
  if (state.open.empty()) {
    state.place_known = false;
    state.step = ++steps;
  }
  state.open.push_back(op);
}

const Place* current_place(OpenOperators& state) {
  if (state.open.empty()) return find_place(state.scope);
  if (!state.place_known) {
    state.place = find_place(state.scope);
    state.place_known = true;
  }
  return state.place;
}

}  // namespace torchmem::capture
