#include "report/accuracy.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/style.h"
#include "report/text.h"
#include "run/assumption_json.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t shown_of_a_kind = 5;

struct Kind {
  Assumption kind;
  const char* list;  // in JSON
  const char* singular;
  const char* explanation;
};

constexpr Kind kinds[] = {
    {Assumption::assumed_value, "assumed_values", "assumed value",
     "read back, which only a kernel would have computed"},
    {Assumption::estimated_workspace, "estimated_workspaces", "estimated workspace",
     "workspace size not recorded, estimated"},
    {Assumption::unmodelled_call, "unmodelled_calls", "unmodelled call", "answered with not-supported"},
};

// What else is to be known of the profile.
std::string profile_notes(const Run& run, const TextStyle& style) {
  std::string text;
  if (const std::string& card = run.info.device.workspaces_of; !card.empty())
    text += wrap("cuDNN's workspaces are those recorded on the " + card + ", not this card's", 2, style);
  return text + wrap(run.info.device.note, 2, style);
}

// "a branch came of it"; "" where nothing is known to have.
std::string decides_text(const AssumptionRecord& assumption) {
  return is_deciding(assumption) ? fmt::format("a {} came of it", name_of(assumption.decides)) : "";
}

// What happened to an assumption of that kind.
std::string explanation(const AssumptionRecord& assumption, const Kind& kind) {
  if (assumption.unknown) return "workspace size not known, taken as 0";
  if (assumption.without) return "workspace out of memory; another engine, taken to need none, stands in";
  std::string text = kind.explanation;
  if (!assumption.what.empty())
    text = "copied to the host, but this device does not hold it: " + printable(assumption.what);
  if (!assumption.taken_for.empty()) text += "; taken for " + printable(assumption.taken_for);
  if (std::string decided = decides_text(assumption); !decided.empty()) text += ", and " + decided;
  return text;
}

std::string describe(const AssumptionRecord& assumption, const Kind& kind, const TextStyle& style) {
  std::string lines = wrap(fmt::format("{}: {} ({}{})", printable(assumption.name),
                                       explanation(assumption, kind), counted(assumption.count, "time"),
                                       assumption.bytes > 0 ? ", " + format_bytes(assumption.bytes) : ""),
                           2, style);
  std::string place = printable(assumption.line);
  if (!assumption.op.empty() && assumption.op != assumption.name)
    place = printable(assumption.op) + (place.empty() ? "" : " at " + place);
  if (!assumption.module.empty())
    place += fmt::format("{}module {}", place.empty() ? "" : ", ", printable(assumption.module));
  if (!place.empty()) lines += wrap(place, 4, style);
  return lines;
}

}  // namespace

bool is_verified(const Run& run) {
  // A real device is its own proof.
  return run.info.device.kind == "cuda" || run.info.device.verified.value_or(false);
}

json assumptions_json(const std::vector<AssumptionRecord>& assumptions) {
  json result = {{"decided_by_assumed_values", first_deciding(assumptions) != nullptr}};
  for (const Kind& kind : kinds) {
    json list = json::array();
    for (const AssumptionRecord& assumption : assumptions) {
      if (assumption.kind == kind.kind) list.push_back(assumption_to_json(assumption));
    }
    result[kind.list] = std::move(list);
  }
  return result;
}

json accuracy_json(const Run& run) {
  json result = assumptions_json(run.assumptions);
  result["complete"] = run.assumptions.empty();
  result["verified"] = is_verified(run);
  if (const std::string& card = run.info.device.workspaces_of; !card.empty()) result["workspaces_of"] = card;
  return result;
}

std::string accuracy_line(const Run& run) {
  std::string verified = is_verified(run) ? "" : "; this profile was not verified against a device";
  if (run.assumptions.empty()) return "fidelity: complete, nothing was assumed" + verified;
  std::string line = "fidelity: not complete";
  for (const Kind& kind : kinds) {
    uint64_t count = 0;
    uint64_t bytes = 0;
    for (const AssumptionRecord& assumption : run.assumptions) {
      if (assumption.kind != kind.kind) continue;
      count += assumption.count;
      bytes += assumption.bytes;
    }
    if (count == 0) continue;
    line += ", " + counted(count, kind.singular);
    if (bytes > 0) line += fmt::format(" ({})", format_bytes(bytes));
  }
  return line + verified;
}

std::string assumed_before_text(const Run& run) {
  uint64_t count = 0;
  const AssumptionRecord* first = nullptr;
  for (const AssumptionRecord& assumption : run.assumptions) {
    if (assumption.kind != Assumption::assumed_value) continue;
    if (!first) first = &assumption;
    count += assumption.count;
  }
  if (!first) return "";
  const std::string value = printable(first->taken_for);
  return fmt::format(
      "Before that, {} that only a kernel would have computed {} read, first by {}{}. The model may fail for "
      "that alone: --assume FILE says what the value is, and a real GPU knows it.",
      counted(count, "value"), count == 1 ? "was" : "were", place_of(*first),
      value.empty() ? "" : ", taken for " + value);
}

std::string place_of(const AssumptionRecord& assumption) {
  std::string place = printable(assumption.op.empty() ? assumption.name : assumption.op);
  return assumption.line.empty() ? place : place + " at " + printable(assumption.line);
}

std::string decision_text(const std::vector<AssumptionRecord>& assumptions) {
  const AssumptionRecord* first = first_deciding(assumptions);
  if (!first) return "";
  std::string value = printable(first->taken_for);
  std::string text = place_of(*first) + " read a value that only a kernel would have computed; " +
                     (value.empty() ? "" : "it was taken for " + value + ", and ") + decides_text(*first);
  auto all = static_cast<uint64_t>(std::count_if(assumptions.begin(), assumptions.end(), is_deciding));
  return all == 1 ? text : fmt::format("{} ({})", text, counted(all - 1, "more such read"));
}

std::string doubt_text(const Run& run) {
  std::string decided = decision_text(run.assumptions);
  if (decided.empty()) return "";
  return "The numbers may be wrong: " + decided +
         ". A GPU may go another way. --assume FILE says what the value is, and a real GPU knows it.";
}

std::string assumed_line(const AssumptionRecord& assumption) {
  std::string text = fmt::format("{}, {}", place_of(assumption), counted(assumption.count, "time"));
  if (!assumption.what.empty())
    text += fmt::format(", {} that this device does not hold: {}", format_bytes(assumption.bytes),
                        printable(assumption.what));
  if (!assumption.taken_for.empty()) text += ", taken for " + printable(assumption.taken_for);
  std::string decided = decides_text(assumption);
  return decided.empty() ? text : text + ": " + decided;
}

std::vector<const AssumptionRecord*> of_kind(const std::vector<AssumptionRecord>& assumptions,
                                             Assumption kind) {
  std::vector<const AssumptionRecord*> found;
  for (const AssumptionRecord& assumption : assumptions) {
    if (assumption.kind == kind) found.push_back(&assumption);
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const AssumptionRecord* assumption) { return is_deciding(*assumption); });
  return found;
}

std::string accuracy_text(const Run& run, const TextStyle& style) {
  std::string text = wrap(accuracy_line(run), 0, style) + profile_notes(run, style);
  for (const Kind& kind : kinds) {
    std::vector<const AssumptionRecord*> found = of_kind(run.assumptions, kind.kind);
    for (size_t i = 0; i < std::min(found.size(), shown_of_a_kind); ++i)
      text += describe(*found[i], kind, style);
    if (found.size() > shown_of_a_kind)
      text += fmt::format("  and {} more (--json lists all)\n", format_count(found.size() - shown_of_a_kind));
  }
  return text;
}

}  // namespace torchmem
