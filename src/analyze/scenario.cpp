#include "torchmem/scenario.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

#include "run/run_info_json.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

using Numbers = std::map<std::string, int64_t>;

struct Number {
  const char* name;
  bool is_size;
};

constexpr Number numbers[] = {{"allocated_bytes", true},      {"reserved_bytes", true},
                              {"peak_allocated_bytes", true}, {"peak_reserved_bytes", true},
                              {"inactive_split_bytes", true}, {"alloc_retries", false}};

constexpr const char* comparisons[] = {"==", "!=", ">=", "<=", ">", "<"};

// A number at a mark can be added to it without overflow.
constexpr uint64_t largest_bound = uint64_t{1} << 62;

constexpr const char* form =
    "expected a comparison and a size, e.g. \">= 3GiB\", \"== @before\" or \"<= @before + 16MiB\"";

[[noreturn]] void refuse(const std::string& text, const char* why) {
  throw Error(ErrorKind::bad_usage, fmt::format("'{}': {}", text, why));
}

std::string trimmed(const std::string& text) {
  size_t begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool holds(const std::string& comparison, int64_t left, int64_t right) {
  if (comparison == "==") return left == right;
  if (comparison == "!=") return left != right;
  if (comparison == ">=") return left >= right;
  if (comparison == "<=") return left <= right;
  if (comparison == ">") return left > right;
  return left < right;
}

std::string number_text(const std::string& name, int64_t value) {
  bool is_size = std::any_of(std::begin(numbers), std::end(numbers),
                             [&](const Number& number) { return name == number.name && number.is_size; });
  if (!is_size) return std::to_string(value);
  uint64_t bytes = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  std::string sign = value < 0 ? "-" : "";
  std::string text = sign + format_bytes(bytes);
  return bytes < 1024 ? text : fmt::format("{} ({}{} B)", text, sign, format_count(bytes));
}

// Before the first action there is nothing.
Numbers none_yet() {
  Numbers zeros;
  for (const Number& number : numbers) zeros[number.name] = 0;
  return zeros;
}

// The numbers at the end of the row's phase.
Numbers numbers_of(const ScenarioRow& row) {
  Numbers found;
  const Phase& phase = *row.phase;
  auto add = [&](const char* name, const std::optional<Usage>& usage) {
    if (usage) found[name] = static_cast<int64_t>(usage->current);
  };
  add("allocated_bytes", phase.allocated);
  add("reserved_bytes", phase.reserved);
  add("inactive_split_bytes", phase.inactive_split);
  if (phase.allocated) found["peak_allocated_bytes"] = static_cast<int64_t>(row.peak_allocated);
  if (phase.reserved) found["peak_reserved_bytes"] = static_cast<int64_t>(row.peak_reserved);
  json retries = phase.statistics.is_object() ? phase.statistics.value("num_alloc_retries", json()) : json();
  if (retries.is_number()) found["alloc_retries"] = retries.get<int64_t>();
  return found;
}

// Says in the row whether all is as expected, and what is not.
void compare(ScenarioRow& row, const Numbers& now, const std::map<std::string, Numbers>& marks) {
  std::vector<std::string> problems;
  for (const Expectation& expected : row.step->expectations) {
    auto value = now.find(expected.number);
    std::string problem;
    int64_t bound = expected.bytes;
    if (!expected.mark.empty()) {
      auto mark = marks.find(expected.mark);
      auto at_mark = mark == marks.end() ? Numbers::const_iterator() : mark->second.find(expected.number);
      if (mark == marks.end() || at_mark == mark->second.end()) {
        problem = "it was not measured at the mark " + expected.mark;
      } else {
        bound += at_mark->second;
      }
    }
    if (problem.empty() && value == now.end()) problem = "it was not measured";
    if (problem.empty() && !holds(expected.comparison, value->second, bound))
      problem = "it is " + number_text(expected.number, value->second);
    if (problem.empty()) continue;
    problems.push_back(fmt::format("{} should be {} {}{}, but {}", expected.number, expected.comparison,
                                   number_text(expected.number, bound),
                                   expected.mark.empty() ? "" : ", from the mark " + expected.mark, problem));
  }
  row.met = problems.empty();
  row.problem = joined(problems, "; ");
}

}  // namespace

std::vector<std::string> scenario_numbers() {
  std::vector<std::string> names;
  for (const Number& number : numbers) names.emplace_back(number.name);
  return names;
}

Expectation parse_expectation(const std::string& number, const std::string& text) {
  Expectation expected;
  expected.number = number;
  std::string rest = trimmed(text);
  for (const char* comparison : comparisons) {
    if (!rest.starts_with(comparison)) continue;
    expected.comparison = comparison;
    rest = trimmed(rest.substr(expected.comparison.size()));
    break;
  }
  if (expected.comparison.empty()) refuse(text, form);
  int64_t sign = 1;
  if (rest.starts_with('@')) {
    size_t end = rest.find_first_of(" +-");
    expected.mark = rest.substr(1, end == std::string::npos ? end : end - 1);
    if (expected.mark.empty()) refuse(text, form);
    rest = end == std::string::npos ? "" : trimmed(rest.substr(end));
    if (rest.empty()) return expected;
    if (rest[0] != '+' && rest[0] != '-') refuse(text, form);
    sign = rest[0] == '-' ? -1 : 1;
    rest = trimmed(rest.substr(1));
  }
  uint64_t bytes = parse_bytes(rest, "'" + text + "'");
  if (bytes > largest_bound) refuse(text, "the size is too large");
  expected.bytes = sign * static_cast<int64_t>(bytes);
  return expected;
}

json engine_actions(const Scenario& scenario) {
  const std::vector<ScenarioStep>& steps = scenario.steps;
  std::vector<size_t> position;  // of each step, or of the next action
  size_t count = 0;
  for (const ScenarioStep& step : steps) {
    position.push_back(count);
    if (!step.action.is_null()) ++count;
  }
  json actions = json::array();
  std::map<size_t, size_t> next;  // by list: the nearest later step that expects an out-of-memory
  for (size_t i = steps.size(); i-- > 0;) {
    const ScenarioStep& step = steps[i];
    if (step.expects_out_of_memory) next[step.lists.back()] = i;
    if (step.action.is_null()) continue;
    json action = step.action;
    size_t nearest = steps.size();
    for (size_t list : step.lists) {
      if (auto found = next.find(list); found != next.end()) nearest = std::min(nearest, found->second);
    }
    if (nearest < steps.size()) action["on_out_of_memory"] = position[nearest];
    actions.push_back(std::move(action));
  }
  std::reverse(actions.begin(), actions.end());
  return actions;
}

ScenarioResult scenario_result(const Scenario& scenario, const Run& run) {
  std::map<size_t, const Phase*> phases;  // by position among the actions
  for (const Phase& phase : run.phases) {
    if (phase.iteration) phases[static_cast<size_t>(*phase.iteration)] = &phase;
  }
  json failures = run.info.rest.value("out_of_memory", json::object());
  ScenarioResult result;
  // What the engine says first: without it the run never came to the first step.
  if (run.error && !info_json(run.info).contains("software")) return result;
  std::map<std::string, Numbers> marks;
  Numbers now = none_yet();
  ScenarioRow last;
  bool failed = false;  // an out-of-memory that no step has expected yet
  size_t position = 0;
  for (const ScenarioStep& step : scenario.steps) {
    size_t mine = position;
    if (!step.action.is_null()) ++position;
    ScenarioRow row;
    row.step = &step;
    row.peak_allocated = last.peak_allocated;
    row.peak_reserved = last.peak_reserved;
    if (!step.action.is_null()) {
      auto found = phases.find(mine);
      if (found == phases.end()) {
        if (phases.empty() || mine > phases.rbegin()->first) break;  // the run ended before
        continue;                                                    // skipped after an out-of-memory
      }
      row.phase = found->second;
      if (row.phase->allocated) row.peak_allocated = std::max(row.peak_allocated, row.phase->allocated->peak);
      if (row.phase->reserved) row.peak_reserved = std::max(row.peak_reserved, row.phase->reserved->peak);
      if (auto failure = failures.find(std::to_string(mine)); failure != failures.end()) {
        row.out_of_memory = *failure;
        failed = true;
      }
      now = numbers_of(row);
    } else if (step.expects_out_of_memory) {
      row.met = failed;
      if (!failed) row.problem = "out of memory was expected, but there was memory for all of it";
      failed = false;
    } else if (failed) {
      continue;  // skipped with the actions around it
    } else if (!step.mark.empty()) {
      marks[step.mark] = now;
    } else {
      compare(row, now, marks);
    }
    if (row.met && !*row.met) ++result.unmet;
    last = row;
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace torchmem
