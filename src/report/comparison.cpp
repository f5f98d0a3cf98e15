#include "report/comparison.h"

#include <cstdio>

#include "report/fidelity.h"
#include "report/outcome_report.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t name_width = 30;
constexpr size_t cell_width = 13;
constexpr size_t ratio_width = 9;

// A run that ended before its end has peaks, but not those of the variant.
bool is_measured(const Outcome& outcome) { return outcome.peak && !outcome.run.error; }

std::string ratio_text(const Outcome& first, const Outcome& outcome) {
  if (!is_measured(first) || !is_measured(outcome) || first.peak->allocated == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                static_cast<double>(outcome.peak->allocated) / static_cast<double>(first.peak->allocated));
  return text;
}

std::string size_text(const std::optional<uint64_t>& bytes) { return bytes ? format_bytes(*bytes) : "-"; }

std::string row(const Outcome& first, const Outcome& outcome) {
  std::string name = outcome.name;
  std::string text;
  if (name.size() >= name_width) {
    text += shorten(name, report_width) + "\n";
    name.clear();
  }
  if (!is_measured(outcome)) {
    if (!name.empty()) text += name + "\n";
    return text + wrap(outcome.run.error ? error_text(outcome.run) : "nothing was measured", 2);
  }
  return text + pad_right(name, name_width) + pad_left(format_bytes(outcome.peak->allocated), cell_width) +
         pad_left(size_text(outcome.peak->reserved), cell_width) +
         pad_left(size_text(outcome.peak->device_bytes), cell_width) +
         pad_left(ratio_text(first, outcome), ratio_width) + "\n";
}

std::string difference_text(const Outcome& first, const Outcome& outcome) {
  if (!is_measured(outcome) || !first.categories || !outcome.categories) return "";
  std::string text;
  for (size_t i = 0; i < category_count; ++i) {
    uint64_t from = (*first.categories)[i];
    uint64_t to = (*outcome.categories)[i];
    if (from == to) continue;
    text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<Category>(i))) + " " +
            signed_bytes(from, to);
  }
  return wrap(outcome.name + ": " + (text.empty() ? "the same in every category" : text), 2);
}

// What is to be known of how far the numbers can be trusted, a line each.
std::vector<std::string> fidelity_notes(const std::vector<Outcome>& outcomes) {
  std::string assumed, unverified;
  for (const Outcome& outcome : outcomes) {
    auto note = [&](std::string& names) { names += (names.empty() ? "" : ", ") + outcome.name; };
    if (!outcome.run.findings.empty()) note(assumed);
    if (!is_verified(outcome.run)) note(unverified);
  }
  std::vector<std::string> notes;
  for (const Outcome& outcome : outcomes) {
    if (std::string decided = decision_text(outcome.run.findings); !decided.empty())
      notes.push_back(outcome.name + " may be wrong: " + decided);
  }
  if (!assumed.empty()) notes.push_back("not complete, something was assumed (--json says what): " + assumed);
  if (!unverified.empty())
    notes.push_back("on a profile that was not verified against a device: " + unverified);
  return notes;
}

}  // namespace

std::string comparison_text(const std::vector<Outcome>& outcomes) {
  const Outcome& first = outcomes.front();
  std::string text = wrap(where_text(first.run), 0) + "\n" + pad_right("peak of", name_width) +
                     pad_left("allocated", cell_width) + pad_left("reserved", cell_width) +
                     pad_left("on device", cell_width) + pad_left("ratio", ratio_width) + "\n";
  for (const Outcome& outcome : outcomes) text += row(first, outcome);
  std::string differences;
  for (size_t i = 1; i < outcomes.size(); ++i) differences += difference_text(first, outcomes[i]);
  if (!differences.empty()) {
    text += "\n" + wrap("allocated at the peak, against " + first.name + ":", 0) + differences;
  }
  text += "\n" + wrap("ratio: of allocated, to " + first.name, 0);
  for (const std::string& note : fidelity_notes(outcomes)) text += wrap(note, 0);
  return text;
}

json comparison_json(const std::vector<Outcome>& outcomes) {
  json variants = json::array();
  const Outcome& first = outcomes.front();
  for (const Outcome& outcome : outcomes) {
    json variant = {{"name", outcome.name}};
    for (const char* name : {"arguments", "device"}) {
      if (outcome.run.facts.contains(name)) variant[name] = outcome.run.facts[name];
    }
    if (json peak = peak_summary_json(outcome); !peak.is_null()) variant["peak"] = std::move(peak);
    if (is_measured(first) && is_measured(outcome) && first.peak->allocated > 0) {
      variant["ratio"] =
          static_cast<double>(outcome.peak->allocated) / static_cast<double>(first.peak->allocated);
    }
    variant["fidelity"] = fidelity_json(outcome.run);
    variant["error"] = outcome.run.error ? error_to_json(*outcome.run.error) : json();
    variants.push_back(std::move(variant));
  }
  json result = {{"schema", "torchmem.compare/1"}, {"torchmem", TORCHMEM_VERSION}};
  for (const char* name : {"model", "software"}) {
    // An engine that failed early may have said less than another.
    for (const Outcome& outcome : outcomes) {
      if (outcome.run.facts.contains(name) &&
          (!result.contains(name) || result[name].size() < outcome.run.facts[name].size()))
        result[name] = outcome.run.facts[name];
    }
  }
  result["variants"] = std::move(variants);
  result["error"] = nullptr;
  return result;
}

std::string comparison_markdown(const std::vector<Outcome>& outcomes) {
  const Outcome& first = outcomes.front();
  std::string text = markdown_cell(where_text(first.run)) +
                     "\n\n| variant | peak allocated | peak reserved | on device | ratio |\n"
                     "| --- | ---: | ---: | ---: | ---: |\n";
  for (const Outcome& outcome : outcomes) {
    text += "| " + markdown_cell(outcome.name) + " | ";
    if (is_measured(outcome)) {
      text += format_bytes(outcome.peak->allocated) + " | " + size_text(outcome.peak->reserved) + " | " +
              size_text(outcome.peak->device_bytes) + " | " + ratio_text(first, outcome) + " |\n";
    } else {
      text += markdown_cell(error_text(outcome.run)) + " | | | |\n";
    }
  }
  text += "\nratio: of allocated, to " + markdown_cell(first.name) + "\n";
  for (const std::string& note : fidelity_notes(outcomes)) text += "\n" + markdown_cell(note) + "\n";
  return text;
}

}  // namespace torchmem
