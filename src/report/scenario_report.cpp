#include <spdlog/fmt/fmt.h>

#include <map>

#include "report/accuracy.h"
#include "report/document.h"
#include "report/run_header.h"
#include "report/run_result_text.h"
#include "report/shortage.h"
#include "report/statistics.h"
#include "report/style.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"
#include "torchmem/scenario.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t label_width = 31;
constexpr size_t number_width = 12;
constexpr size_t verdict_width = 7;
constexpr size_t name_width = 16;
constexpr size_t most_name_lines = 3;
constexpr size_t shown_turns = 2;  // of a loop, at its start; and the last one

std::string label_of(const ScenarioStep& step, const TextStyle& style) {
  const std::string label = printable(step.loop.empty() ? step.label : step.loop + ": " + step.label);
  return style.cuts ? cut(label, most_name_lines * style.width) : label;
}

// An expectation has its verdict at the line's end; a longer one stands on lines of its own before it.
std::string expectation_text(const ScenarioRow& row, const TextStyle& style) {
  const size_t width = style.width - verdict_width;
  const std::string label = label_of(*row.step, style);
  std::string text =
      columns_of(label) < width ? pad_right(label, width) : wrap(label, 0, style) + std::string(width, ' ');
  text += *row.met ? "met\n" : "NOT MET\n";
  return *row.met ? text : text + wrap(row.problem + ".", 4, style);
}

// Of an action: the label and its numbers.
TableRow& add_numbers(Table& table, const std::string& label, const Phase& phase) {
  TableRow& added = table.add({label});
  for (const Statistic<Phase>& statistic : phase_statistics) {
    if (statistic.unit == Unit::bytes) added.cells.push_back(cell_of(statistic, phase));
  }
  return added;
}

std::string shortage_text(const ScenarioRow& row) {
  if (row.out_of_memory.is_null()) return "";
  return "out of memory: " +
         printable_lines(without_vain_advice(row.out_of_memory.value("message", std::string())));
}

void add_row(Table& table, const ScenarioRow& row, const TextStyle& style) {
  if (!row.phase) return table.add_text(expectation_text(row, style));
  TableRow& added = add_numbers(table, label_of(*row.step, style), *row.phase);
  added.below = wrap(shortage_text(row), 4, style);
}

// In the forms that are no text, with the verdict in a column of its own.
void add_row(Table& table, const ScenarioRow& row) {
  const std::string label = label_of(*row.step, {});
  if (row.phase) {
    add_numbers(table, label, *row.phase);
    if (std::string shortage = shortage_text(row); !shortage.empty()) table.add_note(shortage);
    return;
  }
  TableRow& added = table.add({label});
  for (const Statistic<Phase>& statistic : phase_statistics) {
    if (statistic.unit == Unit::bytes) added.cells.emplace_back("");
  }
  added.cells.emplace_back(*row.met ? "met" : "NOT MET");
  if (!*row.met) table.add_note(row.problem + ".");
}

// Which rows stand for all in the text: of the turns of a loop the first few and the last one.
std::vector<bool> shown_rows(const std::vector<ScenarioRow>& rows) {
  std::map<std::string, size_t> turns;
  for (const ScenarioRow& row : rows) ++turns[row.step->place];
  std::map<std::string, size_t> seen;
  std::vector<bool> shown;
  for (const ScenarioRow& row : rows) {
    size_t turn = ++seen[row.step->place];
    bool matters = !row.out_of_memory.is_null() || (row.met && !*row.met) || row.step->loop.empty();
    shown.push_back(matters || turn <= shown_turns || turn == turns[row.step->place]);
  }
  return shown;
}

// `style`: of text; null in the other forms.
Table rows_table(const ScenarioResult& result, bool all_rows, const TextStyle* style) {
  std::vector<TableColumn> columns = {
      {.title = "action", .kind = TableColumn::Kind::words, .width = label_width}};
  for (const Statistic<Phase>& statistic : phase_statistics) {
    if (statistic.unit == Unit::bytes) columns.push_back({.title = statistic.title, .width = number_width});
  }
  if (!style) columns.push_back({.title = "", .kind = TableColumn::Kind::name});
  Table table(std::move(columns));
  size_t hidden = 0;
  std::vector<bool> shown = shown_rows(result.rows);
  for (size_t i = 0; i < result.rows.size(); ++i) {
    if (!result.rows[i].step->mark.empty()) continue;  // it has no numbers of its own
    if (!all_rows && !shown[i]) {
      ++hidden;
      continue;
    }
    const std::string note = fmt::format("... {} of later turns", counted(hidden, "row"));
    if (hidden && style) table.add_text(fmt::format("  {} (--all-rows shows them)\n", note));
    if (hidden && !style) table.add_note(note);
    hidden = 0;
    style ? add_row(table, result.rows[i], *style) : add_row(table, result.rows[i]);
  }
  return table;
}

// What it came to, by name.
std::vector<std::pair<std::string, std::string>> sums(const ScenarioResult& result, const Run& run) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (!result.rows.empty()) {
    const ScenarioRow& last = result.rows.back();
    lines.push_back({"peak allocated", bytes_exactly(last.peak_allocated)});
    lines.push_back({"peak reserved", bytes_exactly(last.peak_reserved)});
  }
  size_t expected = 0;
  for (const ScenarioRow& row : result.rows) expected += row.met.has_value();
  if (expected)
    lines.push_back({"expectations", fmt::format("{} of {} met", expected - result.unmet, expected)});
  lines.push_back({"on", device_text(run)});
  return lines;
}

}  // namespace

std::string scenario_text(const Scenario& scenario, const ScenarioResult& result, const Run& run,
                          bool all_rows, const TextStyle& style) {
  std::string text;
  if (std::string doubt = doubt_text(run); !doubt.empty()) text += wrap(doubt, 0, style) + "\n";
  if (!scenario.about.empty()) text += wrap(printable_lines(scenario.about), 0, style) + "\n";
  text += rows_table(result, all_rows, &style).text(style);
  if (!result.rows.empty()) text += "\n";
  for (const auto& [name, value] : sums(result, run))
    text += named_line({.width = name_width}, name, value, style);
  return text + "\n" + accuracy_text(run, style);
}

std::string scenario_markdown(const Scenario& scenario, const ScenarioResult& result, const Run& run,
                              bool all_rows) {
  Document document("");
  document.add_important(doubt_text(run));
  if (result.rows.empty() || result.rows.back().out_of_memory.is_null())
    document.add_important(error_text(run));
  document.add_text(scenario.about);
  document.add_table(rows_table(result, all_rows, nullptr));
  std::vector<std::string> lines;
  for (const auto& [name, value] : sums(result, run)) lines.push_back(name + ": " + value);
  document.add_list(lines);
  document.add_text(accuracy_line(run));
  return document.markdown();
}

json scenario_json(const Scenario& scenario, const ScenarioResult& result, const Run& run) {
  json rows = json::array();
  for (const ScenarioRow& row : result.rows) {
    json object = {{"place", row.step->place}, {"action", row.step->label}};
    if (!row.step->loop.empty()) object["loop"] = row.step->loop;
    if (row.phase) {
      json numbers = phase_to_json(*row.phase);
      for (const char* name : {"allocated_bytes", "reserved_bytes", "inactive_split_bytes"}) {
        if (numbers.contains(name)) object[name] = numbers[name];
      }
      if (row.phase->allocated) object["peak_allocated_bytes"] = row.peak_allocated;
      if (row.phase->reserved) object["peak_reserved_bytes"] = row.peak_reserved;
      json retries = row.phase->statistics.is_object()
                         ? row.phase->statistics.value("num_alloc_retries", json())
                         : json();
      if (retries.is_number()) object["alloc_retries"] = retries;
    }
    if (!row.out_of_memory.is_null()) object["out_of_memory"] = row.out_of_memory;
    if (row.met) object["met"] = *row.met;
    if (!row.problem.empty()) object["problem"] = row.problem;
    rows.push_back(std::move(object));
  }
  json document = {
      {"schema", "torchmem.scenario/1"}, {"torchmem", TORCHMEM_VERSION},
      {"about", scenario.about},         {"rows", std::move(rows)},
      {"unmet", result.unmet},           {"error", run.error ? error_to_json(*run.error) : json()}};
  const json info = info_json(run.info);
  for (const char* name : {"device", "software"}) {
    if (info.contains(name)) document[name] = info[name];
  }
  if (!result.rows.empty()) {
    document["fidelity"] = accuracy_json(run);  // of what ran
    document["peak"] = {{"allocated_bytes", result.rows.back().peak_allocated},
                        {"reserved_bytes", result.rows.back().peak_reserved}};
  }
  return document;
}

}  // namespace torchmem
