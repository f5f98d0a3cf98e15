#include "report/fidelity.h"

#include <algorithm>

#include "report/style.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t shown_of_a_kind = 5;

struct Kind {
  const char* name;
  const char* list;  // in JSON
  const char* singular;
  const char* explanation;
};

constexpr Kind kinds[] = {
    {"assumed_value", "assumed_values", "assumed value",
     "read back, which only a kernel would have computed"},
    {"estimated_workspace", "estimated_workspaces", "estimated workspace",
     "workspace size not recorded, estimated"},
    {"unmodelled_call", "unmodelled_calls", "unmodelled call", "answered with not-supported"},
};

// The card whose cuDNN workspaces were taken for this one's; empty: its own.
std::string workspaces_of(const Run& run) {
  return run.facts.value(json::json_pointer("/device/workspaces_of"), std::string());
}

// What else is to be known of the profile.
std::string profile_notes(const Run& run, const TextStyle& style) {
  std::string text;
  if (std::string card = workspaces_of(run); !card.empty())
    text += wrap("cuDNN's workspaces are those recorded on the " + card + ", not this card's", 2, style);
  std::string note = run.facts.value(json::json_pointer("/device/note"), std::string());
  return text + wrap(note, 2, style);
}

// Somebody else's text, with nothing in it that a terminal would act on.
std::string text_field(const json& what, const char* name) {
  if (!what.is_object()) return "";
  auto found = what.find(name);
  if (found == what.end() || found->is_null()) return "";
  return printable(found->is_string() ? found->get<std::string>()
                                      : found->dump(-1, ' ', false, json::error_handler_t::replace));
}

// "a branch came of it"; "" where nothing is known to have.
std::string decides_text(const Finding& finding) {
  return is_deciding(finding) ? "a " + text_field(finding.what, "decides") + " came of it" : "";
}

// What happened to a finding of that kind.
std::string explanation(const Finding& finding, const Kind& kind) {
  if (says(finding, "unknown")) return "workspace size not known, taken as 0";
  if (says(finding, "without"))
    return "workspace out of memory; another engine, taken to need none, stands in";
  std::string text = kind.explanation;
  if (std::string what = text_field(finding.what, "what"); !what.empty())
    text = "copied to the host, but this device does not hold it: " + what;
  if (std::string value = text_field(finding.what, "taken_for"); !value.empty())
    text += "; taken for " + value;
  if (std::string decided = decides_text(finding); !decided.empty()) text += ", and " + decided;
  return text;
}

std::string describe(const Finding& finding, const Kind& kind, const TextStyle& style) {
  std::string name = text_field(finding.what, "name");
  std::string op = text_field(finding.what, "op");
  std::string text = name + ": " + explanation(finding, kind);
  text += " (" + counted(finding.count, "time");
  if (finding.bytes > 0) text += ", " + format_bytes(finding.bytes);
  text += ")";
  std::string lines = wrap(text, 2, style);
  std::string place = text_field(finding.what, "line");
  if (!op.empty() && op != name) place = op + (place.empty() ? "" : " at " + place);
  if (std::string module = text_field(finding.what, "module"); !module.empty()) {
    place += (place.empty() ? "" : ", ") + std::string("module ") + module;
  }
  if (!place.empty()) lines += wrap(place, 4, style);
  return lines;
}

}  // namespace

bool is_verified(const Run& run) {
  // A real device is its own proof.
  if (run.facts.value(json::json_pointer("/device/kind"), std::string()) == "cuda") return true;
  return run.facts.value(json::json_pointer("/device/verified"), false);
}

bool says(const Finding& finding, const char* flag) {
  return finding.what.is_object() && finding.what.value(flag, json()) == true;
}

json findings_json(const std::vector<Finding>& findings) {
  json result = {{"decided_by_assumed_values", first_deciding(findings) != nullptr}};
  for (const Kind& kind : kinds) {
    json list = json::array();
    for (const Finding& finding : findings) {
      if (finding.kind == kind.name) list.push_back(finding_to_json(finding));
    }
    result[kind.list] = std::move(list);
  }
  return result;
}

json fidelity_json(const Run& run) {
  json result = findings_json(run.findings);
  result["complete"] = run.findings.empty();
  result["verified"] = is_verified(run);
  if (std::string card = workspaces_of(run); !card.empty()) result["workspaces_of"] = card;
  return result;
}

std::string fidelity_line(const Run& run) {
  std::string verified = is_verified(run) ? "" : "; this profile was not verified against a device";
  if (run.findings.empty()) return "fidelity: complete, nothing was assumed" + verified;
  std::string line = "fidelity: not complete";
  for (const Kind& kind : kinds) {
    uint64_t count = 0;
    uint64_t bytes = 0;
    for (const Finding& finding : run.findings) {
      if (finding.kind != kind.name) continue;
      count += finding.count;
      bytes += finding.bytes;
    }
    if (count == 0) continue;
    line += ", " + counted(count, kind.singular);
    if (bytes > 0) line += " (" + format_bytes(bytes) + ")";
  }
  return line + verified;
}

std::string assumed_before_text(const Run& run) {
  uint64_t count = 0;
  const Finding* first = nullptr;
  for (const Finding& finding : run.findings) {
    if (finding.kind != "assumed_value") continue;
    if (!first) first = &finding;
    count += finding.count;
  }
  if (!first) return "";
  const std::string value = text_field(first->what, "taken_for");
  return "Before that, " + counted(count, "value") + " that only a kernel would have computed " +
         (count == 1 ? "was" : "were") + " read, first by " + place_of(*first) +
         (value.empty() ? "" : ", taken for " + value) +
         ". The model may fail for that alone: --assume FILE says what the value is, and a real GPU knows "
         "it.";
}

std::string place_of(const Finding& finding) {
  std::string place = text_field(finding.what, "op");
  if (place.empty()) place = text_field(finding.what, "name");
  if (std::string line = text_field(finding.what, "line"); !line.empty()) place += " at " + line;
  return place;
}

std::string decision_text(const std::vector<Finding>& findings) {
  const Finding* first = first_deciding(findings);
  if (!first) return "";
  std::string value = text_field(first->what, "taken_for");
  std::string text = place_of(*first) + " read a value that only a kernel would have computed; " +
                     (value.empty() ? "" : "it was taken for " + value + ", and ") + decides_text(*first);
  auto all = static_cast<uint64_t>(std::count_if(findings.begin(), findings.end(), is_deciding));
  return all == 1 ? text : text + " (" + counted(all - 1, "more such read") + ")";
}

std::string doubt_text(const Run& run) {
  std::string decided = decision_text(run.findings);
  if (decided.empty()) return "";
  return "The numbers may be wrong: " + decided +
         ". A GPU may go another way. --assume FILE says what the value is, and a real GPU knows it.";
}

std::string assumed_line(const Finding& finding) {
  std::string text = place_of(finding) + ", " + counted(finding.count, "time");
  if (std::string what = text_field(finding.what, "what"); !what.empty())
    text += ", " + format_bytes(finding.bytes) + " that this device does not hold: " + what;
  if (std::string value = text_field(finding.what, "taken_for"); !value.empty())
    text += ", taken for " + value;
  std::string decided = decides_text(finding);
  return decided.empty() ? text : text + ": " + decided;
}

std::vector<const Finding*> of_kind(const std::vector<Finding>& findings, std::string_view kind) {
  std::vector<const Finding*> found;
  for (const Finding& finding : findings) {
    if (finding.kind == kind) found.push_back(&finding);
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const Finding* finding) { return is_deciding(*finding); });
  return found;
}

std::string fidelity_text(const Run& run, const TextStyle& style) {
  std::string text = wrap(fidelity_line(run), 0, style) + profile_notes(run, style);
  for (const Kind& kind : kinds) {
    std::vector<const Finding*> found = of_kind(run.findings, kind.name);
    for (size_t i = 0; i < std::min(found.size(), shown_of_a_kind); ++i)
      text += describe(*found[i], kind, style);
    if (found.size() > shown_of_a_kind)
      text += "  and " + format_count(found.size() - shown_of_a_kind) + " more (--json lists all)\n";
  }
  return text;
}

}  // namespace torchmem
