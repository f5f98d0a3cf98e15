#include <algorithm>
#include <array>
#include <utility>

#include "torchmem/run.h"

namespace torchmem {

namespace {

constexpr std::array<std::pair<Action, std::string_view>, 9> action_names{{
    {Action::alloc, "alloc"},
    {Action::free_requested, "free_requested"},
    {Action::free_completed, "free_completed"},
    {Action::segment_alloc, "segment_alloc"},
    {Action::segment_free, "segment_free"},
    {Action::segment_map, "segment_map"},
    {Action::segment_unmap, "segment_unmap"},
    {Action::oom, "oom"},
    {Action::snapshot, "snapshot"},
}};

constexpr std::array<std::pair<ErrorKind, std::string_view>, 10> error_names{{
    {ErrorKind::bad_usage, "bad_usage"},
    {ErrorKind::bad_input, "bad_input"},
    {ErrorKind::bad_model, "bad_model"},
    {ErrorKind::model_failed, "model_failed"},
    {ErrorKind::out_of_memory, "out_of_memory"},
    {ErrorKind::assumed_reads, "assumed_reads"},
    {ErrorKind::decided_by_assumed_values, "decided_by_assumed_values"},
    {ErrorKind::unavailable, "unavailable"},
    {ErrorKind::interrupted, "interrupted"},
    {ErrorKind::internal, "internal"},
}};

constexpr std::array<std::string_view, 4> assumption_names = {"assumed_value", "estimated_workspace",
                                                              "unmodelled_call", "other"};
constexpr std::array<std::string_view, 4> decision_names = {"", "size", "loop", "branch"};
constexpr std::array<std::string_view, 4> remedy_names = {"", "choose_method", "choose_loss", "give_library"};

// Without the first, which is none. `names` are in the order of the values.
template <class Value, size_t Count>
std::optional<Value> find_value(const std::array<std::string_view, Count>& names, std::string_view name) {
  auto found = std::find(names.begin() + 1, names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Value>(found - names.begin());
}

}  // namespace

std::string_view name_of(Assumption kind) { return assumption_names[static_cast<size_t>(kind)]; }

std::optional<Assumption> assumption_from(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(Assumption::other); ++i) {
    if (assumption_names[i] == name) return static_cast<Assumption>(i);
  }
  return std::nullopt;
}

std::string_view name_of(Decision decision) { return decision_names[static_cast<size_t>(decision)]; }

std::optional<Decision> decision_from(std::string_view name) {
  return find_value<Decision>(decision_names, name);
}

std::string_view name_of(Remedy remedy) { return remedy_names[static_cast<size_t>(remedy)]; }

std::optional<Remedy> remedy_from(std::string_view name) { return find_value<Remedy>(remedy_names, name); }

std::string_view name_of(Action action) { return action_names[static_cast<size_t>(action)].second; }

std::optional<Action> action_from(std::string_view name) {
  for (const auto& [action, text] : action_names) {
    if (text == name) return action;
  }
  return std::nullopt;
}

std::string_view name_of(ErrorKind kind) { return error_names[static_cast<size_t>(kind)].second; }

ErrorKind error_kind_from(std::string_view name) {
  for (const auto& [kind, text] : error_names) {
    if (text == name) return kind;
  }
  return ErrorKind::internal;
}

namespace {

constexpr std::array<std::string_view, category_count> category_names = {
    "parameters",  "buffers", "gradients",   "optimizer_state", "inputs",
    "activations", "outputs", "temporaries", "workspaces",      "other",
};

}  // namespace

std::string_view name_of(Category category) { return category_names[static_cast<size_t>(category)]; }

std::optional<Category> category_from(std::string_view name) {
  const auto* found = std::find(category_names.begin(), category_names.end(), name);
  if (found == category_names.end()) return std::nullopt;
  return static_cast<Category>(found - category_names.begin());
}

std::string_view name_of(Block::State state) {
  switch (state) {
    case Block::State::active_allocated:
      return "active_allocated";
    case Block::State::active_pending_free:
      return "active_pending_free";
    case Block::State::inactive:
      break;
  }
  return "inactive";
}

int32_t Run::main_device() const {
  int32_t found = -1;
  for (size_t device = 0; device < traces.size(); ++device) {
    if (traces[device].empty()) continue;
    if (found >= 0) return static_cast<int32_t>(info.device.index.value_or(0));
    found = static_cast<int32_t>(device);
  }
  if (found >= 0) return found;
  return segments.empty() ? 0 : segments.front().device;
}

std::set<int32_t> Run::devices() const {
  std::set<int32_t> found;
  for (const Segment& segment : segments) found.insert(segment.device);
  for (size_t device = 0; device < traces.size(); ++device) {
    if (!traces[device].empty()) found.insert(static_cast<int32_t>(device));
  }
  return found;
}

}  // namespace torchmem
