#include "report/comparison.h"

#include <spdlog/fmt/fmt.h>

#include "report/accuracy.h"
#include "report/document.h"
#include "report/run_header.h"
#include "report/run_result_text.h"
#include "report/statistics.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"
#include "text/words.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t name_width = 30;
constexpr size_t cell_width = 13;
constexpr size_t ratio_width = 9;

// A run that ended before its end has peaks, but not those of the variant.
bool is_measured(const RunResult& outcome) { return outcome.peak && !outcome.run.error; }

std::string ratio_text(const RunResult& first, const RunResult& outcome) {
  if (!is_measured(first) || !is_measured(outcome) || first.peak->allocated == 0) return "-";
  return fmt::format(
      "{:.2f}", static_cast<double>(outcome.peak->allocated) / static_cast<double>(first.peak->allocated));
}

// In Markdown a peak is called one, since the first column does not say it.
Table comparison_table(const std::vector<RunResult>& outcomes, const TextStyle* style) {
  std::vector<TableColumn> columns = {
      {.title = style ? "peak of" : "variant", .kind = TableColumn::Kind::words, .width = name_width}};
  for (const Statistic<Peak>& statistic : peak_statistics)
    columns.push_back({.title = style ? statistic.title : statistic.full_title, .width = cell_width});
  columns.push_back({.title = "ratio", .width = ratio_width, .is_optional = true});
  Table table(std::move(columns));
  for (const RunResult& outcome : outcomes) {
    TableRow& row = table.add({outcome.name});
    if (is_measured(outcome)) {
      for (const Statistic<Peak>& statistic : peak_statistics)
        row.cells.push_back(cell_of(statistic, *outcome.peak));
      row.cells.push_back(number_cell(ratio_text(outcomes.front(), outcome)));
      continue;
    }
    const std::string why = outcome.run.error ? error_text(outcome.run) : "nothing was measured";
    if (style) {
      row.below = wrap(why, 2, *style);
    } else {
      row.cells.emplace_back(why);
    }
  }
  return table;
}

std::string difference_text(const RunResult& first, const RunResult& outcome, const TextStyle& style) {
  if (!is_measured(outcome) || !first.categories || !outcome.categories) return "";
  std::vector<std::string> changes;
  for (size_t i = 0; i < category_count; ++i) {
    uint64_t from = (*first.categories)[i];
    uint64_t to = (*outcome.categories)[i];
    if (from != to)
      changes.push_back(fmt::format("{} {}", name_of(static_cast<Category>(i)), signed_bytes(from, to)));
  }
  if (changes.empty()) changes = {"the same in every category"};
  return wrap(fmt::format("{}: {}", outcome.name, joined(changes)), 2, style);
}

// What is to be known of how far the numbers can be trusted, a line each.
std::vector<std::string> fidelity_notes(const std::vector<RunResult>& outcomes) {
  std::vector<std::string> assumed, unverified;
  for (const RunResult& outcome : outcomes) {
    if (!outcome.run.assumptions.empty()) assumed.push_back(outcome.name);
    if (!is_verified(outcome.run)) unverified.push_back(outcome.name);
  }
  std::vector<std::string> notes;
  for (const RunResult& outcome : outcomes) {
    if (std::string decided = decision_text(outcome.run.assumptions); !decided.empty())
      notes.push_back(fmt::format("{} may be wrong: {}", outcome.name, decided));
  }
  if (!assumed.empty())
    notes.push_back("not complete, something was assumed (--json says what): " + joined(assumed));
  if (!unverified.empty())
    notes.push_back("on a profile that was not verified against a device: " + joined(unverified));
  return notes;
}

Document comparison_document(const std::vector<RunResult>& outcomes) {
  const RunResult& first = outcomes.front();
  Document document("Variants of " + first.run.info.model.path);
  document.add_text(where_text(first.run));
  document.add_table(comparison_table(outcomes, nullptr));
  document.add_text("ratio: of allocated, to " + first.name);
  for (const std::string& note : fidelity_notes(outcomes)) document.add_text(note);
  return document;
}

}  // namespace

std::string comparison_text(const std::vector<RunResult>& outcomes, const TextStyle& style) {
  const RunResult& first = outcomes.front();
  std::string text =
      wrap(where_text(first.run), 0, style) + "\n" + comparison_table(outcomes, &style).text(style);
  std::string differences;
  for (size_t i = 1; i < outcomes.size(); ++i) differences += difference_text(first, outcomes[i], style);
  if (!differences.empty()) {
    text += "\n" + wrap("allocated at the peak, against " + first.name + ":", 0, style) + differences;
  }
  text += "\n" + wrap("ratio: of allocated, to " + first.name, 0, style);
  for (const std::string& note : fidelity_notes(outcomes)) text += wrap(note, 0, style);
  return text;
}

json comparison_json(const std::vector<RunResult>& outcomes) {
  json variants = json::array();
  const RunResult& first = outcomes.front();
  for (const RunResult& outcome : outcomes) {
    json variant = {{"name", outcome.name}};
    const json info = info_json(outcome.run.info);
    for (const char* name : {"arguments", "device"}) {
      if (info.contains(name)) variant[name] = info[name];
    }
    if (json peak = peak_summary_json(outcome); !peak.is_null()) variant["peak"] = std::move(peak);
    if (is_measured(first) && is_measured(outcome) && first.peak->allocated > 0) {
      variant["ratio"] =
          static_cast<double>(outcome.peak->allocated) / static_cast<double>(first.peak->allocated);
    }
    variant["fidelity"] = accuracy_json(outcome.run);
    variant["error"] = outcome.run.error ? error_to_json(*outcome.run.error) : json();
    variants.push_back(std::move(variant));
  }
  json result = {{"schema", "torchmem.compare/1"}, {"torchmem", TORCHMEM_VERSION}};
  for (const char* name : {"model", "software"}) {
    // An engine that failed early may have said less than another.
    for (const RunResult& outcome : outcomes) {
      const json info = info_json(outcome.run.info);
      if (info.contains(name) && (!result.contains(name) || result[name].size() < info[name].size()))
        result[name] = info[name];
    }
  }
  result["variants"] = std::move(variants);
  result["error"] = nullptr;
  return result;
}

std::string comparison_markdown(const std::vector<RunResult>& outcomes) {
  return comparison_document(outcomes).markdown();
}

std::string comparison_html(const std::vector<RunResult>& outcomes) {
  return comparison_document(outcomes).html();
}

}  // namespace torchmem
