#include "capture/findings.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "capture/assumed_reads.h"
#include "capture/call_site.h"
#include "capture/finding.h"
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
  std::map<Finding, Repeats> findings;
};

State*& the_state() {
  static auto* instance = new State;
  return instance;
}

State& state() { return *the_state(); }

void write(const Finding& finding, std::uint64_t count, std::uint64_t bytes) {
  nlohmann::json record = {
      {"kind", finding.kind}, {"name", finding.name}, {"count", count}, {"bytes", bytes}};
  if (!finding.problem.empty()) record["problem"] = finding.problem;
  if (!finding.site.op.empty()) record["op"] = finding.site.op;
  if (!finding.site.module.empty()) record["module"] = finding.site.module;
  if (!finding.site.line.empty()) record["line"] = finding.site.line;
  if (!finding.taken_for.empty()) record["taken_for"] = finding.taken_for;
  if (!finding.decides.empty()) record["decides"] = finding.decides;
  if (!finding.what.empty()) record["what"] = finding.what;
  if (finding.how == unknown) record["unknown"] = true;  // the size was taken as 0
  if (finding.how == without) record["without"] = true;  // it did not fit
  StreamWriter& writer = state().writer();
  writer.finding(record);
}

void workspace(void*, const char* library, const char* operation, const char* problem, std::size_t bytes,
               int how) {
  if (how == recorded) return;
  Finding finding;
  finding.kind = "estimated_workspace";
  finding.name = std::string(library) + " " + operation;
  finding.problem = problem == nullptr ? "" : problem;
  finding.site = current_call_site();
  finding.how = how;
  add_finding(std::move(finding), bytes);
}

void unmodelled(void*, const char* library, const char* function) {
  Finding finding;
  finding.kind = "unmodelled_call";
  finding.name = function;
  finding.problem = library;
  finding.site = current_call_site();
  add_finding(std::move(finding), 0);
}

values::Mode mode_from_environment() {
  const char* word = std::getenv("TORCHMEM_VALUES");
  return values::parse_mode(word == nullptr ? "" : word).value_or(values::Mode::small);
}

}  // namespace

bool is_new_finding(const Finding& finding) {
  const std::lock_guard lock(state().mutex);
  return !state().findings.contains(finding);
}

bool add_finding(Finding finding, std::uint64_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto [slot, inserted] = state().findings.try_emplace(std::move(finding));
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
  values::watch_values(mode_from_environment());
}

void write_repeats() {
  const std::lock_guard lock(state().mutex);
  for (auto& [finding, repeats] : state().findings) {
    if (repeats.count == 0) continue;
    write(finding, repeats.count, repeats.bytes);
    repeats = {};
  }
}

void forget_findings() {
  // Another one: a thread of the parent's may have held the lock of this one.
  auto* own = new State;
  own->writer = state().writer;
  the_state() = own;
}

}  // namespace torchmem::capture
