#include "capture/assumed_reads.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "capture/assumption.h"
#include "capture/assumptions.h"
#include "capture/decisions.h"
#include "capture/dtype.h"
#include "capture/given_values.h"
#include "capture/saves.h"
#include "torchmem/bytes.h"
#include "values/compute.h"
#include "values/observer.h"
#include "values/stand_in.h"
#include "values/value.h"

namespace torchmem::capture {
namespace {

using values::VirtualDevice;

// A copy to the host from this size on is data that somebody may keep, not a number that is looked at.
constexpr std::size_t bulk = std::size_t{1} << 20;
// Reads of assumed values at one place before that is said, and between one time and the next.
constexpr std::uint64_t first_warning = 1000;
constexpr std::uint64_t next_warning = 10;

struct State {
  std::mutex mutex;
  std::function<void(const std::string&)> end;
  GivenValues given_values;
  std::map<std::string, std::uint64_t> reads;  // of assumed values, by line
  std::uint64_t all_reads = 0;
  std::uint64_t most_reads = 0;  // 0: as many as there are
  std::atomic<int> uncounted{0};
};

State& state() {
  static auto* instance = new State;
  return *instance;
}

std::string place_text(const CallSite& site) {
  if (!site.line.empty()) return site.line;
  return site.op.empty() ? "an unknown line" : site.op;
}

void say(const std::string& text) { std::fprintf(stderr, "torchmem: %s\n", text.c_str()); }

// Of a place that reads again and again, and of all together.
void note_read(const CallSite& site, const Assumption& assumption) {
  std::uint64_t here = 0;
  std::uint64_t all = 0;
  {
    const std::lock_guard lock(state().mutex);
    here = ++state().reads[place_text(site)];
    all = ++state().all_reads;
  }
  std::uint64_t next = first_warning;
  while (next < here) next *= next_warning;
  if (here == next)
    say(place_text(site) + " has read a value " + std::to_string(here) +
        " times that the virtual GPU does not know (" +
        (assumption.site.op.empty() ? "a copy to the host" : assumption.site.op) + ", taken for " +
        assumption.taken_for +
        "). A loop that waits for it to change never ends: say what it is with --assume, or end the run "
        "after so "
        "many with --max-assumed-reads.");
  if (state().most_reads != 0 && all == state().most_reads + 1 && state().end)
    state().end("more than " + std::to_string(state().most_reads) +
                " assumed values were read (--max-assumed-reads), the last one at " + place_text(site));
}

std::string bulk_text(at::ScalarType dtype, std::size_t bytes, std::uint64_t address) {
  const std::string saved = what_it_saves(address);
  return (saved.empty() ? "" : saved + ": ") + std::to_string(bytes / c10::elementSize(dtype)) + " of " +
         dtype_name(dtype);
}

void warn_of_bulk(const Assumption& assumption, std::size_t bytes) {
  say(place_text(assumption.site) + " copies " + format_bytes(bytes) +
      " to the host that this device does not hold, since no kernel ran (" + assumption.what +
      "). What is made of it has made-up numbers, " + assumption.taken_for +
      " and the like: do not overwrite a real file with it.");
}

// An integer of that many bytes, or a truth value.
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

}  // namespace

void expect_assumed_reads() {
  state().given_values = GivenValues::from_environment();
  if (const char* most = std::getenv("TORCHMEM_MAX_ASSUMED_READS"))
    state().most_reads = std::strtoull(most, nullptr, 10);
}

int value_assumed(void*, std::uint64_t address, std::size_t bytes, void* to, const VirtualDevice::Gap* gaps,
                  std::size_t count) {
  const values::Unseen unseen;
  const values::Reading reading = values::current_reading();
  at::ScalarType dtype = reading.dtype;
  if (dtype == at::kByte) dtype = values::type_written_at(address).value_or(dtype);
  const bool is_answer = reading.answer && to != nullptr && write_answer(*reading.answer, to, bytes, dtype);
  if (is_answer && reading.is_known) return VirtualDevice::not_assumed;
  for (std::size_t i = 0; i < count && !is_answer; ++i)
    values::fill_unknown(dtype, static_cast<char*>(to) + gaps[i].offset, gaps[i].bytes);
  if (state().uncounted > 0) return VirtualDevice::not_assumed;
  CallSite site = current_call_site();
  Assumption assumption;
  assumption.kind = "assumed_value";
  assumption.name = site.op.empty() ? "copy to the host" : site.op;
  bool was_said = false;
  if (to != nullptr && bytes >= c10::elementSize(dtype)) {
    {
      const std::lock_guard lock(state().mutex);
      was_said = state().given_values.apply(site, dtype, to, bytes);
    }
    assumption.taken_for = values::text_of(dtype, to);
  }
  assumption.site = std::move(site);
  const bool is_bulk = to != nullptr && bytes >= bulk;
  if (is_bulk && is_new_assumption(assumption)) assumption.what = bulk_text(dtype, bytes, address);
  // Asked once for each place: it takes a look at the program's text.
  if (!was_said && !reading.is_status && !is_bulk && is_new_assumption(assumption))
    assumption.decides = is_answer && dtype != at::kBool ? "size" : what_it_decides(reading, assumption.site);
  const Assumption copy = assumption;
  const bool is_first = add_assumption(std::move(assumption), bytes);
  if (is_bulk && is_first) warn_of_bulk(copy, bytes);
  if (!is_bulk) note_read(copy.site, copy);
  return was_said ? VirtualDevice::assumed_all : VirtualDevice::assumed_gaps;
}

UncountedReads::UncountedReads() { ++state().uncounted; }
UncountedReads::~UncountedReads() { --state().uncounted; }

void on_assumed_reads_limit(std::function<void(const std::string&)> end) { state().end = std::move(end); }

}  // namespace torchmem::capture
