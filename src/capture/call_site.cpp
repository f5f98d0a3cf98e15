#include "capture/call_site.h"

#include <ATen/record_function.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/kept.h"
#include "capture/module_path.h"
#include "capture/module_scope.h"
#include "capture/owners.h"
#include "capture/python_frames.h"
#include "capture/running_operators.h"
#include "capture/source_place.h"
#include "values/observer.h"
#include "values/virtual_device.h"

namespace torchmem::capture {
namespace {

constexpr std::string_view evaluate_node = "autograd::engine::evaluate_function: ";
constexpr std::string_view accumulate = "torch::autograd::AccumulateGrad";
constexpr std::string_view optimizer_step = "Optimizer.step#";

struct Operator {
  std::string name;
  bool is_backward = false;
  bool accumulates = false;
};

// What the TorchScript interpreter knew of a place: source frames, innermost first, and the module path.
struct Place {
  Stack source;
  std::string module;
};

struct ThreadState {
  std::vector<Operator*> open;
  bool began_unseen = false;     // what is open: its end is not told either
  const Place* place = nullptr;  // of the outermost open operator; valid while place_known
  bool place_known = false;
  std::uint64_t step = 0;
  const ModuleScope* scope = nullptr;  // the innermost
  bool is_in_scope = false;            // an optimizer's step: what begins within is not seen
  std::size_t unseen = 0;              // operators open within it
};

// Everything interned; never destroyed, because the autograd threads outlive static destructors.
struct Interned {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Operator>> operators;
  std::unordered_map<std::string, std::unique_ptr<Place>> places;
  std::unordered_map<std::string, StackId> stacks;
  // Where the forward operator ran that made an autograd node, by the thread's id and the node's sequence
  // number.
  std::unordered_map<std::uint64_t, const Place*> creators;
  std::vector<std::shared_ptr<torch::jit::Source>>
      sources;  // keeps the addresses in the keys of `places` unique
};

Interned& interned() {
  static auto* instance = new Interned;
  return *instance;
}

ThreadState& thread_state() {
  thread_local ThreadState state;
  return state;
}

bool follows_python = false;
at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
std::atomic<Owners*> the_owners{nullptr};
std::atomic<std::uint64_t> steps{0};

template <class T>
void append_bytes(std::string& key, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  key.append(bytes, sizeof value);
}

// Without a file where the place is unknown.
Frame source_frame(const torch::jit::StackEntry& entry) {
  const auto place = source_place(entry.range);
  return place ? Frame{place->file, place->line, entry.filename} : Frame{"", 0, entry.filename};
}

const Place* find_python_place() {
  std::string key;
  Stack frames;
  const Place* place = nullptr;
  const auto is_known = [&](const std::string& found) {
    const std::lock_guard lock(interned().mutex);
    const auto known = interned().places.find(found);
    if (known != interned().places.end()) place = known->second.get();
    return place != nullptr;
  };
  if (!python_stack(key, is_known, frames) || place != nullptr) return place;
  const std::lock_guard lock(interned().mutex);
  auto& slot = interned().places[key];
  if (!slot) slot = std::make_unique<Place>(Place{std::move(frames), ""});
  return slot.get();
}

const Place* find_place(const ModuleScope* scope) {
  const auto entries = torch::jit::currentCallstack();
  if (entries.empty()) return follows_python ? find_python_place() : nullptr;
  const auto modules = torch::jit::currentModuleHierarchy();
  std::string key;
  for (const auto& entry : entries) {
    append_bytes(key, entry.range.source().get());
    append_bytes(key, entry.range.start());
  }
  for (const auto& module : modules) key += module;
  if (scope != nullptr) key += "|" + scope->whole("");

  const std::lock_guard lock(interned().mutex);
  auto& slot = interned().places[key];
  if (!slot) {
    slot = std::make_unique<Place>();
    for (const auto& entry : entries) {  // innermost first
      if (Frame frame = source_frame(entry); !frame.filename.empty())
        slot->source.push_back(std::move(frame));
      interned().sources.push_back(entry.range.source());
    }
    slot->module = scope == nullptr ? module_path(modules) : scope->whole(module_path(modules));
  }
  return slot.get();
}

const Place* current_place(ThreadState& state) {
  if (state.open.empty()) return find_place(state.scope);
  if (!state.place_known) {
    state.place = find_place(state.scope);
    state.place_known = true;
  }
  return state.place;
}

// Threads are numbered from 1, and no run has 2^48 nodes.
std::uint64_t creator_key(std::uint64_t thread, std::int64_t sequence) {
  return (thread << 48) ^ static_cast<std::uint64_t>(sequence);
}

// An operator's sequence number is the one that the next node gets; the innermost such operator made it.
void remember_creator(const at::RecordFunction& fn, ThreadState& state) {
  const Place* place = current_place(state);
  if (place == nullptr) return;
  const std::lock_guard lock(interned().mutex);
  interned().creators[creator_key(fn.threadId(), fn.seqNr())] = place;
}

// A backward node's place is that of the operator that made it.
void enter_node(const at::RecordFunction& fn, ThreadState& state) {
  const std::lock_guard lock(interned().mutex);
  const auto creator = interned().creators.find(creator_key(fn.forwardThreadId(), fn.seqNr()));
  if (creator == interned().creators.end()) return;
  state.place = creator->second;
  state.place_known = true;
  // A program never says when a graph is gone, and a node runs once as a rule.
  if (follows_python) interned().creators.erase(creator);
}

// The operator of that name. Names of operators lie where they are for good, so most are found by their
// address, without a lock.
Operator* find_operator(const char* name) {
  struct Known {
    const char* name = nullptr;
    Operator* op = nullptr;
  };
  thread_local std::array<Known, 512> known;
  auto& slot = known[(reinterpret_cast<std::uintptr_t>(name) >> 4) % known.size()];
  if (slot.name == name && slot.op->name == name) return slot.op;
  const std::lock_guard lock(interned().mutex);
  auto& entry = interned().operators[name];
  if (!entry) {
    entry = std::make_unique<Operator>();
    entry->name = name;
    entry->is_backward = entry->name.starts_with(evaluate_node);
    entry->accumulates = entry->is_backward && entry->name.ends_with(accumulate);
  }
  slot = {name, entry.get()};
  return entry.get();
}

void open(Operator* op, ThreadState& state) {
  if (std::exchange(state.began_unseen, false)) state.open.clear();
  if (state.open.empty()) {
    state.place_known = false;
    state.step = ++steps;
  }
  state.open.push_back(op);
}

// PyTorch's own scopes of which only the optimizer's step is an operator.
bool is_passed_over(const at::RecordFunction& fn) {
  return fn.scope() == at::RecordScope::USER_SCOPE &&
         !std::string_view(fn.name()).starts_with(optimizer_step);
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
  if (is_passed_over(fn)) return nullptr;
  Operator* op = find_operator(fn.name());
  auto& state = thread_state();
  if (state.is_in_scope) {
    ++state.unseen;
    return nullptr;
  }
  open(op, state);
  if (fn.scope() == at::RecordScope::USER_SCOPE) {
    state.is_in_scope = true;
    return nullptr;
  }
  if (fn.seqNr() >= 0) {
    if (fn.scope() == at::RecordScope::BACKWARD_FUNCTION) {
      enter_node(fn, state);
    } else if (fn.forwardThreadId() == 0) {
      remember_creator(fn, state);
    }
  }
  Owners* owners = the_owners;
  if (owners == nullptr) return nullptr;
  if (follows_python && fn.scope() == at::RecordScope::FUNCTION)
    return watch_kept(fn, state.open.size() == 1, *owners);
  owners->used(fn.inputs());
  return nullptr;
}

void end(const at::RecordFunction& fn, at::ObserverContext* context) {
  if (is_passed_over(fn)) return;
  auto& state = thread_state();
  if (state.unseen > 0) {
    --state.unseen;
    return;
  }
  if (state.is_in_scope) {
    if (fn.scope() != at::RecordScope::USER_SCOPE) return;  // begun before anything was followed
    state.is_in_scope = false;
    if (Owners* owners = the_owners) owners->optimizer_step_ended(state.step);
  }
  Owners* owners = the_owners;
  if (context != nullptr && owners != nullptr) tell_kept(fn, *context, state.open.size() == 1, *owners);
  if (!state.open.empty()) state.open.pop_back();
}

// The innermost frame that is not PyTorch's own: its modules lie in torch/, its decompositions are strings.
const Frame* own_frame(const Stack& source) {
  const Frame* innermost = nullptr;
  for (const auto& frame : source) {
    if (frame.filename == "<string>") continue;
    if (innermost == nullptr) innermost = &frame;
    if (frame.filename.find("site-packages/torch/") == std::string::npos) return &frame;
  }
  return innermost;
}

}  // namespace

void install_operator_tracking(Owners* owners, bool program) {
  the_owners = owners;
  follows_python = program;
  std::unordered_set<at::RecordScope> scopes = {at::RecordScope::FUNCTION,
                                                at::RecordScope::BACKWARD_FUNCTION};
  if (program) scopes.insert(at::RecordScope::USER_SCOPE);
  callback = at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                                       .needsInputs(owners != nullptr)
                                       .needsOutputs(owners != nullptr && program)
                                       .scopes(scopes));
  if (!program) return;
  // The program's first allocation is where it is joined.
  auto& state = thread_state();
  for (const std::string& name : running_operators()) open(find_operator(name.c_str()), state);
  state.began_unseen = !state.open.empty();
}

void follow_python() { follows_python = true; }

void pause_operator_tracking(bool paused) {
  if (paused) {
    at::disableCallback(callback);
  } else {
    at::reenableCallback(callback);
  }
}

void stop_operator_tracking() { the_owners = nullptr; }

OperatorScope::OperatorScope(const std::string& name) : was_enabled_(at::isRecordFunctionEnabled()) {
  auto& state = thread_state();
  open(find_operator(name.c_str()), state);
  state.is_in_scope = true;
  if (!values::virtual_device().present()) at::enableRecordFunction(false);
}

OperatorScope::~OperatorScope() {
  at::enableRecordFunction(was_enabled_);
  auto& state = thread_state();
  state.is_in_scope = false;
  state.open.pop_back();
}

bool is_in_backward() {
  const auto& state = thread_state();
  return !state.open.empty() && state.open.front()->is_backward;
}

bool is_accumulating() {
  const auto& state = thread_state();
  return !state.open.empty() && state.open.front()->accumulates;
}

std::uint64_t current_step() { return thread_state().step; }

struct ModuleScope::Around {
  std::vector<Operator*> open;
  const Place* place;
  bool place_known;
  const ModuleScope* scope;
};

ModuleScope::ModuleScope(std::string path, std::string type)
    : path_(std::move(path)), type_(std::move(type)), around_(std::make_unique<Around>()) {
  auto& state = thread_state();
  *around_ = {std::move(state.open), state.place, state.place_known, state.scope};
  state.open.clear();
  state.place_known = false;
  state.scope = this;
}

ModuleScope::~ModuleScope() {
  auto& state = thread_state();
  state.open = std::move(around_->open);
  state.place = around_->place;
  state.place_known = around_->place_known;
  state.scope = around_->scope;
}

std::string ModuleScope::whole(const std::string& inner) const {
  return inner.empty() ? path_ + " (" + type_ + ")" : path_ + "." + inner;
}

void forget_creators() {
  const std::lock_guard lock(interned().mutex);
  interned().creators.clear();
}

StackId current_stack(StreamWriter& writer) {
  auto& state = thread_state();
  const Place* place = current_place(state);
  if (state.open.empty() && place == nullptr) return no_stack;
  std::string key;
  key.reserve((state.open.size() + 1) * sizeof(void*));
  for (const Operator* op : state.open) append_bytes(key, op);
  append_bytes(key, place);

  const std::lock_guard lock(interned().mutex);
  const auto [slot, inserted] = interned().stacks.try_emplace(key, no_stack);
  if (inserted) {
    Stack frames;
    for (auto it = state.open.rbegin(); it != state.open.rend(); ++it)
      frames.push_back({operator_file, 0, (*it)->name});
    if (place != nullptr) {
      if (!place->module.empty()) frames.push_back({module_file, 0, place->module});
      frames.insert(frames.end(), place->source.begin(), place->source.end());
    }
    slot->second = writer.stack(frames);
  }
  return slot->second;
}

CallSite current_call_site() {
  auto& state = thread_state();
  CallSite site;
  site.op = state.open.empty() ? values::current_reading().op : state.open.back()->name;
  if (const Place* place = current_place(state)) {
    site.module = place->module;
    if (const Frame* frame = own_frame(place->source)) {
      site.line = frame->filename + ":" + std::to_string(frame->line);
    }
  }
  return site;
}

}  // namespace torchmem::capture
