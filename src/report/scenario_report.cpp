#include <map>

#include "report/fidelity.h"
#include "report/run_header.h"
#include "report/style.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"
#include "torchmem/scenario.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t label_width = 31;
constexpr size_t number_width = 12;
constexpr size_t verdict_column = report_width - 7;
constexpr size_t most_name_lines = 3;
constexpr size_t shown_turns = 2;  // of a loop, at its start; and the last one

std::string cell(const std::optional<Usage>& usage, uint64_t Usage::*member) {
  return pad_left(usage ? format_bytes((*usage).*member) : "-", number_width);
}

// The row's name in the first columns of a line; a longer one stands on lines of its own before it.
std::string name_cell(const ScenarioStep& step, size_t width) {
  std::string label = printable(step.loop.empty() ? step.label : step.loop + ": " + step.label);
  if (columns_of(label) < width) return pad_right(label, width);
  return wrap(cut(label, most_name_lines * report_width), 0) + std::string(width, ' ');
}

std::string row_text(const ScenarioRow& row) {
  const ScenarioStep& step = *row.step;
  if (!row.phase) {
    std::string text = name_cell(step, verdict_column) + (*row.met ? "met" : "NOT MET") + "\n";
    if (!*row.met) text += wrap(row.problem + ".", 4);
    return text;
  }
  const Phase& phase = *row.phase;
  std::string text = name_cell(step, label_width) + cell(phase.allocated, &Usage::current) +
                     cell(phase.allocated, &Usage::peak) + cell(phase.reserved, &Usage::current) +
                     cell(phase.reserved, &Usage::peak) + "\n";
  if (!row.out_of_memory.is_null())
    text += wrap("out of memory: " + printable_lines(row.out_of_memory.value("message", std::string())), 4);
  return text;
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

}  // namespace

std::string scenario_text(const Scenario& scenario, const ScenarioResult& result, const Run& run,
                          bool all_rows) {
  std::string text;
  if (std::string doubt = doubt_text(run); !doubt.empty()) text += wrap(doubt, 0) + "\n";
  if (!scenario.about.empty()) text += wrap(printable_lines(scenario.about), 0) + "\n";
  text += pad_right("action", label_width) + pad_left("allocated", number_width) +
          pad_left("peak", number_width) + pad_left("reserved", number_width) +
          pad_left("peak", number_width) + "\n";
  size_t hidden = 0;
  std::vector<bool> shown = shown_rows(result.rows);
  for (size_t i = 0; i < result.rows.size(); ++i) {
    if (!result.rows[i].step->mark.empty()) continue;  // it has no numbers of its own
    if (!all_rows && !shown[i]) {
      ++hidden;
      continue;
    }
    if (hidden) text += "  ... " + counted(hidden, "row") + " of later turns (--all-rows shows them)\n";
    hidden = 0;
    text += row_text(result.rows[i]);
  }
  if (!result.rows.empty()) {
    const ScenarioRow& last = result.rows.back();
    text += "\npeak allocated  " + bytes_exactly(last.peak_allocated) + "\npeak reserved   " +
            bytes_exactly(last.peak_reserved) + "\n";
  }
  size_t expected = 0;
  for (const ScenarioRow& row : result.rows) expected += row.met.has_value();
  if (expected) {
    text += "expectations    " + std::to_string(expected - result.unmet) + " of " + std::to_string(expected) +
            " met\n";
  }
  text += "on              " + device_text(run) + "\n";
  return text + "\n" + fidelity_text(run);
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
  for (const char* name : {"device", "software"}) {
    if (run.facts.contains(name)) document[name] = run.facts[name];
  }
  if (!result.rows.empty()) {
    document["fidelity"] = fidelity_json(run);  // of what ran
    document["peak"] = {{"allocated_bytes", result.rows.back().peak_allocated},
                        {"reserved_bytes", result.rows.back().peak_reserved}};
  }
  return document;
}

}  // namespace torchmem
