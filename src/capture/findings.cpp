#include "capture/findings.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <tuple>

#include "capture/assumptions.h"
#include "capture/call_site.h"
#include "capture/decisions.h"
#include "capture/dtype.h"
#include "torchmem/bytes.h"
#include "values/compute.h"
#include "values/observer.h"
#include "values/stand_in.h"
#include "values/value.h"
#include "values/virtual_device.h"

namespace torchmem::capture {
namespace {

using values::VirtualDevice;

constexpr int kRecorded = 0;
constexpr int kUnknown = 2;
constexpr int kWithout = 3;
/// A copy to the host from this size on is data that somebody may keep, not a number that is looked at.
constexpr std::size_t kBulk = std::size_t{1} << 20;
/// Reads of assumed values at one place before that is said, and between one time and the next.
constexpr std::uint64_t kFirstWarning = 1000;
constexpr std::uint64_t kNextWarning = 10;

struct Finding {
  const char* kind;
  std::string name;
  std::string problem;
  CallSite site;
  int how = kRecorded;  // of a workspace, as the virtual device says it
  std::string decides;
  std::string taken_for;  // the first time
  std::string what;       // of a copy in bulk

  auto key() const { return std::tie(name, problem, site.op, site.module, site.line, how); }
  bool operator<(const Finding& other) const { return key() < other.key(); }
};

struct Repeats {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

struct State {
  std::function<StreamWriter&()> writer;
  std::function<void(const std::string&)> end;
  std::mutex mutex;
  std::map<Finding, Repeats> findings;
  Assumptions assumptions;
  std::map<std::string, std::uint64_t> reads;  // of assumed values, by line
  std::uint64_t all_reads = 0;
  std::uint64_t most_reads = 0;  // 0: as many as there are
  std::atomic<int> uncounted{0};
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
  if (!finding.taken_for.empty()) record["taken_for"] = finding.taken_for;
  if (!finding.decides.empty()) record["decides"] = finding.decides;
  if (!finding.what.empty()) record["what"] = finding.what;
  if (finding.how == kUnknown) record["unknown"] = true;  // the size was taken as 0
  if (finding.how == kWithout) record["without"] = true;  // it did not fit
  StreamWriter& writer = state().writer();
  writer.finding(record);
}

bool is_new(const Finding& finding) {
  const std::lock_guard lock(state().mutex);
  return !state().findings.contains(finding);
}

/// Whether it is the first of its kind.
bool add(Finding finding, std::uint64_t bytes) {
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

std::string place_text(const CallSite& site) {
  if (!site.line.empty()) return site.line;
  return site.op.empty() ? "an unknown line" : site.op;
}

void say(const std::string& text) { std::fprintf(stderr, "torchmem: %s\n", text.c_str()); }

/// Of a place that reads again and again, and of all together.
void watch_reads(const CallSite& site, const Finding& finding) {
  std::uint64_t here = 0;
  std::uint64_t all = 0;
  {
    const std::lock_guard lock(state().mutex);
    here = ++state().reads[place_text(site)];
    all = ++state().all_reads;
  }
  std::uint64_t next = kFirstWarning;
  while (next < here) next *= kNextWarning;
  if (here == next)
    say(place_text(site) + " has read a value " + std::to_string(here) +
        " times that the virtual GPU does not know (" +
        (finding.site.op.empty() ? "a copy to the host" : finding.site.op) + ", taken for " +
        finding.taken_for +
        "). A loop that waits for it to change never ends: say what it is with --assume, or end the run "
        "after so "
        "many with --max-assumed-reads.");
  if (state().most_reads != 0 && all == state().most_reads + 1 && state().end)
    state().end("more than " + std::to_string(state().most_reads) +
                " assumed values were read (--max-assumed-reads), the last one at " + place_text(site));
}

std::string tensor_text(at::ScalarType dtype, std::size_t bytes) {
  return std::to_string(bytes / c10::elementSize(dtype)) + " of " + dtype_name(dtype);
}

/// An integer of that many bytes, or a truth value.
bool write_answer(std::int64_t answer, void* to, std::size_t bytes, at::ScalarType& dtype) {
  if (bytes == sizeof(std::int32_t)) {
    dtype = at::kInt;
    *static_cast<std::int32_t*>(to) = static_cast<std::int32_t>(answer);
  } else if (bytes == sizeof(std::int64_t)) {
    dtype = at::kLong;
    *static_cast<std::int64_t*>(to) = answer;
  } else if (bytes == sizeof(bool)) {
    dtype = at::kBool;
    *static_cast<bool*>(to) = answer != 0;
  } else {
    return false;
  }
  return true;
}

int value_assumed(void*, std::uint64_t address, std::size_t bytes, void* to, const VirtualDevice::Gap* gaps,
                  std::size_t count) {
  const values::Unseen unseen;
  const values::Reading reading = values::current_reading();
  at::ScalarType dtype = reading.dtype;
  if (dtype == at::kByte) dtype = values::type_written_at(address).value_or(dtype);
  const bool is_answer = reading.answer && to != nullptr && write_answer(*reading.answer, to, bytes, dtype);
  if (is_answer && reading.is_known) return VirtualDevice::kNotAssumed;
  for (std::size_t i = 0; i < count && !is_answer; ++i)
    values::fill_unknown(dtype, static_cast<char*>(to) + gaps[i].offset, gaps[i].bytes);
  if (state().uncounted > 0) return VirtualDevice::kNotAssumed;
  CallSite site = current_call_site();
  Finding finding;
  finding.kind = "assumed_value";
  finding.name = site.op.empty() ? "copy to the host" : site.op;
  bool was_said = false;
  if (to != nullptr && bytes >= c10::elementSize(dtype)) {
    {
      const std::lock_guard lock(state().mutex);
      was_said = state().assumptions.apply(site, dtype, to, bytes);
    }
    finding.taken_for = values::text_of(dtype, to);
  }
  const bool is_bulk = to != nullptr && bytes >= kBulk;
  if (is_bulk) finding.what = tensor_text(dtype, bytes);
  finding.site = std::move(site);
  // Asked once for each place: it takes a look at the program's text.
  if (!was_said && !reading.is_status && !is_bulk && is_new(finding))
    finding.decides = is_answer && dtype != at::kBool ? "size" : what_it_decides(reading, finding.site);
  const Finding copy = finding;
  const bool is_first = add(std::move(finding), bytes);
  if (is_bulk && is_first)
    say(place_text(copy.site) + " copies " + format_bytes(bytes) +
        " to the host that this device does not hold (" + copy.what +
        ", computed by kernels that did not run): a file that it is saved to has made-up numbers, " +
        copy.taken_for + " and the like. Do not overwrite a real one.");
  if (!is_bulk) watch_reads(copy.site, copy);
  return was_said ? VirtualDevice::kAssumedAll : VirtualDevice::kAssumedGaps;
}

void workspace(void*, const char* library, const char* operation, const char* problem, std::size_t bytes,
               int how) {
  if (how == kRecorded) return;
  Finding finding;
  finding.kind = "estimated_workspace";
  finding.name = std::string(library) + " " + operation;
  finding.problem = problem == nullptr ? "" : problem;
  finding.site = current_call_site();
  finding.how = how;
  add(std::move(finding), bytes);
}

void unmodelled(void*, const char* library, const char* function) {
  Finding finding;
  finding.kind = "unmodelled_call";
  finding.name = function;
  finding.problem = library;
  finding.site = current_call_site();
  add(std::move(finding), 0);
}

values::Mode mode_from_environment() {
  const char* word = std::getenv("TORCHMEM_VALUES");
  return values::parse_mode(word == nullptr ? "" : word).value_or(values::Mode::kSmall);
}

}  // namespace

void observe_virtual_device(std::function<StreamWriter&()> writer) {
  if (!values::virtual_device().present()) return;
  state().writer = std::move(writer);
  state().assumptions = Assumptions::from_environment();
  if (const char* most = std::getenv("TORCHMEM_MAX_ASSUMED_READS"))
    state().most_reads = std::strtoull(most, nullptr, 10);
  const VirtualDevice::Observer observer = {nullptr,
                                            value_assumed,
                                            workspace,
                                            unmodelled,
                                            [](void*, void* work) { values::launch_captured(work); },
                                            [](void*, void* work) { values::drop_captured(work); }};
  values::virtual_device().set_observer(&observer);
  values::watch_values(mode_from_environment());
}

UncountedReads::UncountedReads() { ++state().uncounted; }
UncountedReads::~UncountedReads() { --state().uncounted; }

void on_assumed_reads_limit(std::function<void(const std::string&)> end) { state().end = std::move(end); }

void write_repeats() {
  const std::lock_guard lock(state().mutex);
  for (auto& [finding, repeats] : state().findings) {
    if (repeats.count == 0) continue;
    write(finding, repeats.count, repeats.bytes);
    repeats = {};
  }
}

void forget_findings() { state().findings.clear(); }

}  // namespace torchmem::capture
