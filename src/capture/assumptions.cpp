#include "capture/assumptions.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "capture/assumed_reads.h"
#include "capture/assumption.h"
#include "capture/call_site.h"
#include "values/observer.h"
#include "values/virtual_device.h"

namespace torchmem::capture {
namespace {

using values::VirtualDevice;

constexpr int recorded = 0;
constexpr int unknown = 2;
constexpr int without = 3;
struct Repeats {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct State {
  std::function<StreamWriter&()> writer;
  std::mutex mutex;
  std::map<Assumption, Repeats> assumptions;
};

State*& the_state() {
  static auto* instance = new State;
  return instance;
}

State& state() { return *the_state(); }

void write(const Assumption& assumption, std::uint64_t count, std::uint64_t bytes) {
  nlohmann::json record = {
      {"kind", assumption.kind}, {"name", assumption.name}, {"count", count}, {"bytes", bytes}};
  if (!assumption.problem.empty()) record["problem"] = assumption.problem;
  if (!assumption.site.op.empty()) record["op"] = assumption.site.op;
  if (!assumption.site.module.empty()) record["module"] = assumption.site.module;
  if (!assumption.site.line.empty()) record["line"] = assumption.site.line;
  if (!assumption.taken_for.empty()) record["taken_for"] = assumption.taken_for;
  if (!assumption.decides.empty()) record["decides"] = assumption.decides;
  if (!assumption.what.empty()) record["what"] = assumption.what;
  if (assumption.how == unknown) record["unknown"] = true;  // the size was taken as 0
  if (assumption.how == without) record["without"] = true;  // it did not fit
  StreamWriter& writer = state().writer();
  writer.assumption(record);
}

void workspace(void*, const char* library, const char* operation, const char* problem, std::size_t bytes,
               int how) {
  if (how == recorded) return;
  Assumption assumption;
  assumption.kind = "estimated_workspace";
  assumption.name = std::string(library) + " " + operation;
  assumption.problem = problem == nullptr ? "" : problem;
  assumption.site = current_call_site();
  assumption.how = how;
  add_assumption(std::move(assumption), bytes);
}

void unmodelled(void*, const char* library, const char* function) {
  Assumption assumption;
  assumption.kind = "unmodelled_call";
  assumption.name = function;
  assumption.problem = library;
  assumption.site = current_call_site();
  add_assumption(std::move(assumption), 0);
}

values::Mode mode_from_environment() {
  const char* word = std::getenv("TORCHMEM_VALUES");
  return values::parse_mode(word == nullptr ? "" : word).value_or(values::Mode::small);
}

}  // namespace

bool is_new_assumption(const Assumption& assumption) {
  const std::lock_guard lock(state().mutex);
  return !state().assumptions.contains(assumption);
}

bool add_assumption(Assumption assumption, std::uint64_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto [slot, inserted] = state().assumptions.try_emplace(std::move(assumption));
  if (inserted) {
    write(slot->first, 1, bytes);
    state().writer().flush();
  } else {
    ++slot->second.count;
    slot->second.bytes += bytes;
  }
  return inserted;
}

void observe_virtual_device(std::function<StreamWriter&()> writer) {
  if (!values::virtual_device().present()) return;
  state().writer = std::move(writer);
  expect_assumed_reads();
  const VirtualDevice::Observer observer = {nullptr,
                                            value_assumed,
                                            workspace,
                                            unmodelled,
                                            [](void*, void* work) { values::launch_captured(work); },
                                            [](void*, void* work) { values::drop_captured(work); }};
  values::virtual_device().set_observer(&observer);
  values::follow_values(mode_from_environment());
}

void write_repeats() {
  const std::lock_guard lock(state().mutex);
  for (auto& [assumption, repeats] : state().assumptions) {
    if (repeats.count == 0) continue;
    write(assumption, repeats.count, repeats.bytes);
    repeats = {};
  }
}

void forget_assumptions() {
  // Another one: a thread of the parent's may have held the lock of this one.
  auto* own = new State;
  own->writer = state().writer;
  the_state() = own;
}

}  // namespace torchmem::capture
