#include "capture/operator_tracking.h"

#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <string_view>
#include <unordered_set>

#include "capture/autograd_nodes.h"
#include "capture/kept.h"
#include "capture/open_operators.h"
#include "capture/owners.h"
#include "capture/place.h"
#include "capture/running_operators.h"
#include "values/virtual_device.h"

namespace torchmem::capture {
namespace {

constexpr std::string_view optimizer_step = "Optimizer.step#";

at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
std::atomic<Owners*> the_owners{nullptr};

// PyTorch's own scopes of which only the optimizer's step is an operator.
bool is_passed_over(const at::RecordFunction& fn) {
  return fn.scope() == at::RecordScope::USER_SCOPE &&
         !std::string_view(fn.name()).starts_with(optimizer_step);
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& fn) {
  if (is_passed_over(fn)) return nullptr;
  Operator* op = find_operator(fn.name());
  auto& state = open_operators();
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
      if (const Place* creator = creator_of(fn)) {
        state.place = creator;
        state.place_known = true;
      }
    } else if (fn.forwardThreadId() == 0) {
      remember_creator(fn, current_place(state));
    }
  }
  Owners* owners = the_owners;
  if (owners == nullptr) return nullptr;
  if (follows_python() && fn.scope() == at::RecordScope::FUNCTION)
    return begin_kept(fn, state.open.size() == 1, *owners);
  owners->used(fn.inputs());
  return nullptr;
}

void end(const at::RecordFunction& fn, at::ObserverContext* context) {
  if (is_passed_over(fn)) return;
  auto& state = open_operators();
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
  if (context != nullptr && owners != nullptr) end_kept(fn, *context, state.open.size() == 1, *owners);
  if (!state.open.empty()) state.open.pop_back();
}

}  // namespace

void install_operator_tracking(Owners* owners, bool program) {
  the_owners = owners;
  if (program) follow_python();
  std::unordered_set<at::RecordScope> scopes = {at::RecordScope::FUNCTION,
                                                at::RecordScope::BACKWARD_FUNCTION};
  if (program) scopes.insert(at::RecordScope::USER_SCOPE);
  callback = at::addGlobalCallback(at::RecordFunctionCallback(begin, end)
                                       .needsInputs(owners != nullptr)
                                       .needsOutputs(owners != nullptr && program)
                                       .scopes(scopes));
  if (!program) return;
  // The program's first allocation is where it is joined.
  auto& state = open_operators();
  for (const std::string& name : running_operators()) open(find_operator(name.c_str()), state);
  state.began_unseen = !state.open.empty();
}

void pause_operator_tracking(bool paused) {
  if (paused) {
    at::disableCallback(callback);
  } else {
    at::reenableCallback(callback);
  }
}

void stop_operator_tracking() { the_owners = nullptr; }

OperatorScope::OperatorScope(const std::string& name) : was_enabled_(at::isRecordFunctionEnabled()) {
  auto& state = open_operators();
  open(find_operator(name.c_str()), state);
  state.is_in_scope = true;
  if (!values::virtual_device().present()) at::enableRecordFunction(false);
}

OperatorScope::~OperatorScope() {
  at::enableRecordFunction(was_enabled_);
  auto& state = open_operators();
  state.is_in_scope = false;
  state.open.pop_back();
}

bool is_in_backward() {
  const auto& state = open_operators();
  return !state.open.empty() && state.open.front()->is_backward;
}

bool is_accumulating() {
  const auto& state = open_operators();
  return !state.open.empty() && state.open.front()->accumulates;
}

std::uint64_t current_step() { return open_operators().step; }

}  // namespace torchmem::capture
