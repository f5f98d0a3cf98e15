#include "capture/findings.h"

#include <map>
#include <mutex>
#include <tuple>

#include "capture/call_site.h"
#include "capture/virtual_device.h"

namespace torchmem::capture {
namespace {

constexpr int kRecorded = 0;
constexpr int kUnknown = 2;
constexpr int kWithout = 3;

struct Finding {
  const char* kind;
  std::string name;
  std::string problem;
  CallSite site;
  int how = kRecorded;  // of a workspace, as the virtual device says it

  auto key() const { return std::tie(name, problem, site.op, site.module, site.line, how); }
  bool operator<(const Finding& other) const { return key() < other.key(); }
};

struct Repeats {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct State {
  StreamWriter* writer = nullptr;
  std::mutex mutex;
  std::map<Finding, Repeats> findings;
};

State& state() {
  static auto* instance = new State;
  return *instance;
}

void write(const Finding& finding, std::uint64_t count, std::uint64_t bytes) {
  nlohmann::json record = {
      {"kind", finding.kind}, {"name", finding.name}, {"count", count}, {"bytes", bytes}};
  if (!finding.problem.empty()) record["problem"] = finding.problem;
  if (!finding.site.op.empty()) record["op"] = finding.site.op;
  if (!finding.site.module.empty()) record["module"] = finding.site.module;
  if (!finding.site.line.empty()) record["line"] = finding.site.line;
  if (finding.how == kUnknown) record["unknown"] = true;  // the size was taken as 0
  if (finding.how == kWithout) record["without"] = true;  // it did not fit
  state().writer->finding(record);
}

void add(Finding finding, std::uint64_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto [slot, inserted] = state().findings.try_emplace(std::move(finding));
  if (inserted) {
    write(slot->first, 1, bytes);
  } else {
    ++slot->second.count;
    slot->second.bytes += bytes;
  }
}

void value_assumed(void*, std::uint64_t, std::size_t bytes) {
  CallSite site = current_call_site();
  std::string name = site.op.empty() ? "copy to the host" : site.op;
  add({"assumed_value", std::move(name), "", std::move(site)}, bytes);
}

void workspace(void*, const char* library, const char* operation, const char* problem, std::size_t bytes,
               int how) {
  if (how == kRecorded) return;
  add({"estimated_workspace", std::string(library) + " " + operation, problem == nullptr ? "" : problem,
       current_call_site(), how},
      bytes);
}

void unmodelled(void*, const char* library, const char* function) {
  add({"unmodelled_call", function, library, current_call_site()}, 0);
}

}  // namespace

void observe_virtual_device(StreamWriter& writer) {
  if (!virtual_device().present()) return;
  state().writer = &writer;
  const VirtualDevice::Observer observer = {nullptr, value_assumed, workspace, unmodelled};
  virtual_device().set_observer(&observer);
}

void write_repeats() {
  const std::lock_guard lock(state().mutex);
  for (auto& [finding, repeats] : state().findings) {
    if (repeats.count == 0) continue;
    write(finding, repeats.count, repeats.bytes);
    repeats = {};
  }
}

}  // namespace torchmem::capture
