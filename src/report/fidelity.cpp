#include "report/fidelity.h"

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
     "read back as 0, which a kernel would have computed"},
    {"estimated_workspace", "estimated_workspaces", "estimated workspace",
     "workspace size not recorded, estimated"},
    {"unmodelled_call", "unmodelled_calls", "unmodelled call", "answered with not-supported"},
};

// The card whose cuDNN workspaces were taken for this one's; empty: its own.
std::string workspaces_of(const Run& run) {
  return run.facts.value(json::json_pointer("/device/workspaces_of"), std::string());
}

// What else is to be known of the profile.
std::string profile_notes(const Run& run) {
  std::string text;
  if (std::string card = workspaces_of(run); !card.empty())
    text += wrap("cuDNN's workspaces are those recorded on the " + card + ", not this card's", 2);
  std::string note = run.facts.value(json::json_pointer("/device/note"), std::string());
  return text + wrap(note, 2);
}

std::string text_field(const json& what, const char* name) {
  auto found = what.find(name);
  if (found == what.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::string describe(const Finding& finding, const Kind& kind) {
  std::string name = text_field(finding.what, "name");
  std::string op = text_field(finding.what, "op");
  std::string text = name + ": ";
  text += says(finding, "unknown") ? "workspace size not known, taken as 0"
          : says(finding, "without")
              ? "workspace out of memory; another engine, taken to need none, stands in"
              : kind.explanation;
  text += " (" + counted(finding.count, "time");
  if (finding.bytes > 0) text += ", " + format_bytes(finding.bytes);
  text += ")";
  std::string lines = wrap(text, 2);
  std::string place = text_field(finding.what, "line");
  if (!op.empty() && op != name) place = op + (place.empty() ? "" : " at " + place);
  if (std::string module = text_field(finding.what, "module"); !module.empty()) {
    place += (place.empty() ? "" : ", ") + std::string("module ") + module;
  }
  if (!place.empty()) lines += wrap(place, 4);
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

json fidelity_json(const Run& run) {
  json result = {{"complete", run.findings.empty()}, {"verified", is_verified(run)}};
  for (const Kind& kind : kinds) {
    json list = json::array();
    for (const Finding& finding : run.findings) {
      if (finding.kind == kind.name) list.push_back(finding_to_json(finding));
    }
    result[kind.list] = std::move(list);
  }
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
  std::string first;
  for (const Finding& finding : run.findings) {
    if (finding.kind != "assumed_value") continue;
    if (count == 0) {
      first = text_field(finding.what, "name");
      if (std::string line = text_field(finding.what, "line"); !line.empty()) first += " at " + line;
    }
    count += finding.count;
  }
  if (count == 0) return "";
  return "Before that, " + counted(count, "value") + " that a kernel would have computed " +
         (count == 1 ? "was" : "were") + " read as zero, first by " + first +
         ". The virtual GPU computes nothing, and the model may fail for that alone.";
}

std::string fidelity_text(const Run& run) {
  std::string text = wrap(fidelity_line(run), 0) + profile_notes(run);
  for (const Kind& kind : kinds) {
    size_t entries = 0;
    for (const Finding& finding : run.findings) {
      if (finding.kind == kind.name && entries++ < shown_of_a_kind) text += describe(finding, kind);
    }
    if (entries > shown_of_a_kind) {
      text += "  and " + format_count(entries - shown_of_a_kind) + " more (--json lists all)\n";
    }
  }
  return text;
}

}  // namespace torchmem
