#include "report/fit_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/accuracy.h"
#include "report/run_result_text.h"
#include "report/table.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"
#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t size_width = 11;
constexpr size_t cell_width = 13;
constexpr size_t device_width = 21;
constexpr size_t numbers_width = size_width + 2 * cell_width + 2;  // with the gap behind
constexpr size_t bar_width = 38;

const SizeResult* find_trial(const FitResult& result, uint64_t size) {
  for (const SizeResult& trial : result.trials) {
    if (trial.size == size) return &trial;
  }
  return nullptr;
}

// What the device holds besides what the allocator reserved.
std::optional<uint64_t> context_bytes(const FitResult& result) {
  for (const SizeResult& trial : result.trials) {
    const std::optional<Peak>& peak = trial.outcome.peak;
    if (trial.outcome.run.error || !peak || !peak->device_bytes || !peak->reserved) continue;
    return *peak->device_bytes - std::min(*peak->device_bytes, *peak->reserved);
  }
  return std::nullopt;
}

std::string room_text(const FitResult& result) {
  if (result.limit) {
    return bytes_exactly(*result.limit) +
           " that the allocator may reserve (--limit; context and modules are not in it)";
  }
  std::string text = result.capacity ? bytes_exactly(*result.capacity) + " of the device" : "the device";
  std::optional<uint64_t> context = context_bytes(result);
  return text + (context ? ", of which context and modules take " + format_bytes(*context)
                         : ", context and modules included");
}

// "83 to 90", "84 to 92 by 4".
std::string range_text(uint64_t from, uint64_t to, uint64_t step) {
  if (from == to) return format_count(from);
  return format_count(from) + " to " + format_count(to) + (step > 1 ? " by " + format_count(step) : "");
}

bool ran_out(const SizeResult& trial) {
  return trial.outcome.run.error && trial.outcome.run.error->kind == ErrorKind::out_of_memory;
}

std::string why_text(const FitResult& result, const TextStyle& style) {
  for (const SizeResult& trial : result.trials) {
    bool is_above = !result.largest || trial.size > *result.largest;
    if (is_above && trial.outcome.run.error)
      return wrap(fmt::format("{}: {}", format_count(trial.size), error_text(trial.outcome.run)), 0, style);
  }
  return "";
}

std::string none_text(const FitResult& result, const TextStyle& style) {
  std::string text =
      wrap(fmt::format("not even {} = {} fits", result.dimension, format_count(result.least)), 0, style);
  if (result.unlimited && result.unlimited->outcome.peak && !result.unlimited->outcome.run.error) {
    const Peak& peak = *result.unlimited->outcome.peak;
    std::string reserved = peak.reserved ? bytes_exactly(*peak.reserved) + " reserved, " : "";
    text += wrap(fmt::format("it needs {}{} allocated", reserved, bytes_exactly(peak.allocated)), 2, style);
    if (peak.device_bytes && !result.limit)
      text += wrap("and with context and modules " + bytes_exactly(*peak.device_bytes), 2, style);
  }
  return text + wrap("there are " + room_text(result), 2, style);
}

// ", nor do 7 sizes above them, up to 10,624": what was run beyond the sizes right above the answer.
std::string further_text(const FitResult& result) {
  auto first = std::find_if(result.trials.begin(), result.trials.end(),
                            [&](const SizeResult& trial) { return trial.size > result.checked_through; });
  auto count = static_cast<uint64_t>(result.trials.end() - first);
  if (count == 0) return "";
  if (count == 1) return ", nor does " + format_count(first->size);
  return fmt::format(", nor do {} sizes above, up to {}", format_count(count),
                     format_count(result.trials.back().size));
}

std::string answer_text(const FitResult& result, const TextStyle& style) {
  const SizeResult* trial = find_trial(result, *result.largest);
  std::string text = fmt::format("largest {}: {}\n", result.dimension, format_count(*result.largest));
  if (trial && trial->outcome.peak && trial->outcome.peak->reserved) {
    text += wrap("it reserves " + bytes_exactly(*trial->outcome.peak->reserved), 2, style);
    text += wrap("there are " + room_text(result), 2, style);
  }
  if (result.at_most) {
    text += wrap("no larger one was allowed (--max)", 2, style);
  } else if (result.checked_through > *result.largest) {
    uint64_t first = *result.largest + result.multiple;
    text += wrap(
        fmt::format("{} {}{}", range_text(first, result.checked_through, result.multiple),
                    result.checked_through == first ? "was run and does not fit" : "were run and do not fit",
                    further_text(result)),
        2, style);
  }
  std::vector<std::string> holes, failures;
  std::string why;
  for (const SizeResult& other : result.trials) {
    if (other.size >= *result.largest || !other.outcome.run.error) continue;
    (ran_out(other) ? holes : failures).push_back(format_count(other.size));
    if (!ran_out(other) && why.empty()) why = error_text(other.outcome.run);
  }
  if (!holes.empty()) text += wrap("smaller, but does not fit: " + joined(holes), 2, style);
  if (failures.empty()) return text;
  return text + wrap(fmt::format("smaller, but {} {}", joined(failures), why), 2, style);
}

// What the sizes reserve, against the most that any of them may.
std::string bar_text(const FitPoint& point, uint64_t room, const TextStyle& style) {
  if (!point.reserved || room == 0) return "";
  double part = static_cast<double>(*point.reserved) / static_cast<double>(room);
  size_t width = std::min(bar_width, style.width - std::min(style.width, numbers_width));
  return std::string(static_cast<size_t>(part * static_cast<double>(width)), '#');
}

bool same_needs(const FitPoint& a, const FitPoint& b) {
  return a.fits && b.fits && a.allocated == b.allocated && a.reserved == b.reserved;
}

// Of neighbours that fit and need the same, the first and the last: those in between tell nothing more.
std::vector<FitPoint> without_equal(const std::vector<FitPoint>& points) {
  std::vector<FitPoint> kept;
  for (size_t i = 0; i < points.size(); ++i) {
    bool is_between = i > 0 && i + 1 < points.size() && same_needs(points[i - 1], points[i]) &&
                      same_needs(points[i], points[i + 1]);
    if (!is_between) kept.push_back(points[i]);
  }
  return kept;
}

std::string curve_text(const FitResult& result, const TextStyle& style) {
  uint64_t room = reservable(result).value_or(0);
  for (const SizeResult& trial : result.trials) {
    if (trial.outcome.peak && trial.outcome.peak->reserved && !trial.outcome.run.error)
      room = std::max(room, *trial.outcome.peak->reserved);
  }
  Table table({{.title = result.dimension, .width = size_width},
               {.title = "allocated", .width = cell_width},
               {.title = "reserved", .width = cell_width}});
  std::vector<FitPoint> points = without_equal(fit_curve(result));
  for (auto next = points.begin(); next != points.end();) {
    const FitPoint& point = *next++;
    TableRow& row =
        table.add({format_count(point.size), bytes_cell(point.allocated), bytes_cell(point.reserved)});
    if (point.fits) {
      row.mark = bar_text(point, room, style);
      continue;
    }
    auto end = std::find_if(next, points.end(), [&](const FitPoint& other) {
      return other.fits || other.ran_out != point.ran_out;
    });
    row.mark = point.ran_out ? "does not fit" : "failed";
    if (end != next)
      row.mark += fmt::format(" ({} sizes, to {})", format_count(static_cast<uint64_t>(end - next) + 1),
                              format_count(end[-1].size));
    next = end;
  }
  return table.text(style);
}

std::string one_text(const FitResult& result, const TextStyle& style) {
  std::string text =
      result.trials.empty() ? "" : wrap(where_text(result.trials.front().outcome.run), 0, style) + "\n";
  text += result.largest ? answer_text(result, style) : none_text(result, style);
  if (!result.at_most) text += why_text(result, style);
  const SizeResult* trial = result.largest ? find_trial(result, *result.largest) : nullptr;
  return trial ? text + wrap(accuracy_line(trial->outcome.run), 0, style) : text;
}

// The devices for which `say` gives a reason to name them, and that reason.
std::string notes(const std::vector<FitResult>& results, const char* what, bool (*applies)(const Run& run),
                  const TextStyle& style) {
  std::vector<std::string> names;
  for (const FitResult& result : results) {
    bool any = std::any_of(result.trials.begin(), result.trials.end(),
                           [&](const SizeResult& trial) { return applies(trial.outcome.run); });
    if (any) names.push_back(result.device);
  }
  return names.empty() ? "" : wrap(what + joined(names), 0, style);
}

// Of a device on which not even the least size fits.
void add_none(Table& table, const FitResult& result, const TextStyle& style) {
  bool memory = std::any_of(result.trials.begin(), result.trials.end(), ran_out);
  TableRow& row = table.add({result.device, bytes_cell(result.capacity), memory ? "none" : "failed"});
  if (result.unlimited && result.unlimited->outcome.peak && result.unlimited->outcome.peak->reserved) {
    row.mark = fmt::format("{} needs {}", format_count(result.least),
                           format_bytes(*result.unlimited->outcome.peak->reserved));
  }
  if (memory || result.trials.empty()) return;
  const SizeResult& first = result.trials.front();
  row.below = wrap(format_count(first.size) + " " + error_text(first.outcome.run), 2, style);
}

std::string table_text(const std::vector<FitResult>& results, const TextStyle& style) {
  std::string text =
      results.front().trials.empty()
          ? ""
          : wrap(model_and_software(results.front().trials.front().outcome.run), 0, style) + "\n";
  Table table({{.title = "device", .kind = TableColumn::Kind::name, .width = device_width},
               {.title = "memory", .width = cell_width},
               {.title = "largest " + results.front().dimension, .width = 14},
               {.title = "reserves", .width = cell_width},
               {.title = "checked to", .width = 12, .is_optional = true}});
  for (const FitResult& result : results) {
    if (!result.largest) {
      add_none(table, result, style);
      continue;
    }
    const SizeResult* trial = find_trial(result, *result.largest);
    table.add({result.device, bytes_cell(result.capacity), format_count(*result.largest),
               bytes_cell(trial && trial->outcome.peak ? trial->outcome.peak->reserved : std::nullopt),
               result.at_most ? "(--max)" : format_count(result.checked_through)});
  }
  text += table.text(style);
  if (results.front().limit) {
    text += wrap("each with at most " + bytes_exactly(*results.front().limit) +
                     " for the allocator (--limit; context and modules are not in it)",
                 0, style);
  } else {
    text += wrap("memory has context and modules in it, what a size reserves has not", 0, style);
  }
  return text +
         notes(
             results, "not complete, something was assumed (--json says what): ",
             [](const Run& run) { return !run.assumptions.empty(); }, style) +
         notes(
             results, "not verified against such a card: ", [](const Run& run) { return !is_verified(run); },
             style);
}

json trial_json(const SizeResult& trial) {
  json result = {{"size", trial.size}, {"fits", !trial.outcome.run.error}};
  if (first_deciding(trial.outcome.run.assumptions)) result["decided_by_assumed_values"] = true;
  json peak = peak_summary_json(trial.outcome);
  if (!peak.is_null()) result["peak"] = std::move(peak);
  result["error"] = trial.outcome.run.error ? error_to_json(*trial.outcome.run.error) : json();
  return result;
}

json result_json(const FitResult& result) {
  json object = {{"device", result.device},
                 {"largest", result.largest ? json(*result.largest) : json()},
                 {"checked_through", result.checked_through},
                 {"at_most", result.at_most}};
  if (result.limit) object["limit_bytes"] = *result.limit;
  if (result.capacity) object["capacity_bytes"] = *result.capacity;
  if (auto bytes = reservable(result)) object["reservable_bytes"] = *bytes;
  if (auto bytes = context_bytes(result)) object["context_bytes"] = *bytes;
  if (!result.trials.empty()) object["fidelity"] = accuracy_json(result.trials.back().outcome.run);
  for (const SizeResult& trial : result.trials) {
    if (result.largest == trial.size) object["fidelity"] = accuracy_json(trial.outcome.run);
  }
  object["trials"] = json::array();
  for (const SizeResult& trial : result.trials) object["trials"].push_back(trial_json(trial));
  if (result.unlimited) object["unlimited"] = trial_json(*result.unlimited);
  return object;
}

}  // namespace

std::optional<uint64_t> reservable(const FitResult& result) {
  if (result.limit) return result.limit;
  std::optional<uint64_t> context = context_bytes(result);
  if (!result.capacity || !context || *context > *result.capacity) return std::nullopt;
  return *result.capacity - *context;
}

std::vector<FitPoint> fit_curve(const FitResult& result) {
  std::vector<FitPoint> points;
  for (const SizeResult& trial : result.trials) {
    FitPoint point;
    point.size = trial.size;
    point.fits = !trial.outcome.run.error;
    point.ran_out = ran_out(trial);
    if (point.fits && trial.outcome.peak) {
      point.allocated = trial.outcome.peak->allocated;
      point.reserved = trial.outcome.peak->reserved;
    }
    point.why = error_text(trial.outcome.run);
    points.push_back(std::move(point));
  }
  return points;
}

const SizeResult* first_decided(const std::vector<FitResult>& results) {
  for (const FitResult& result : results) {
    for (const SizeResult& trial : result.trials) {
      if (first_deciding(trial.outcome.run.assumptions)) return &trial;
    }
    if (result.unlimited && first_deciding(result.unlimited->outcome.run.assumptions))
      return &*result.unlimited;
  }
  return nullptr;
}

std::string fit_answer_text(const std::vector<FitResult>& results, const TextStyle& style) {
  std::string text = results.size() == 1 ? one_text(results.front(), style) : table_text(results, style);
  const SizeResult* decided = first_decided(results);
  if (!decided) return text;
  std::string doubt =
      fmt::format("This may be wrong: with {} = {}, {}.", results.front().dimension,
                  format_count(decided->size), decision_text(decided->outcome.run.assumptions));
  return wrap(doubt, 0, style) + "\n" + text;
}

std::string fit_text(const std::vector<FitResult>& results, const TextStyle& style) {
  std::string text = fit_answer_text(results, style);
  return results.size() == 1 ? text + "\n" + curve_text(results.front(), style) : text;
}

json fit_json(const std::vector<FitResult>& results) {
  json result = {
      {"schema", "torchmem.fit/1"}, {"torchmem", TORCHMEM_VERSION}, {"dimension", results.front().dimension}};
  const std::vector<SizeResult>& trials = results.front().trials;
  if (!trials.empty()) {
    const json info = info_json(trials.front().outcome.run.info);
    for (const char* name : {"model", "software", "arguments"}) {
      if (info.contains(name)) result[name] = info[name];
    }
  }
  result["results"] = json::array();
  for (const FitResult& one : results) result["results"].push_back(result_json(one));
  result["error"] = nullptr;
  return result;
}

}  // namespace torchmem
