#include "report/phase_table.h"

#include <spdlog/fmt/fmt.h>

#include "report/statistics.h"

namespace torchmem {

namespace {

constexpr size_t name_width = 9;
constexpr size_t longest_name = 24;
constexpr size_t iteration_width = 8;
constexpr size_t bytes_width = 13;
constexpr size_t time_width = 11;

bool same_memory(const Phase& a, const Phase& b) {
  auto same = [](const std::optional<Usage>& x, const std::optional<Usage>& y) {
    return x.has_value() == y.has_value() && (!x || (x->current == y->current && x->peak == y->peak));
  };
  return a.name == b.name && a.micro == b.micro && same(a.allocated, b.allocated) &&
         same(a.reserved, b.reserved);
}

// The phases of one iteration.
struct Group {
  size_t first = 0;
  size_t count = 0;
};

std::vector<Group> group_by_iteration(const std::vector<Phase>& phases) {
  std::vector<Group> groups;
  for (size_t i = 0; i < phases.size(); ++i) {
    if (i == 0 || phases[i].iteration != phases[i - 1].iteration) groups.push_back({i, 0});
    ++groups.back().count;
  }
  return groups;
}

bool same_group(const std::vector<Phase>& phases, const Group& a, const Group& b) {
  if (a.count != b.count) return false;
  for (size_t i = 0; i < a.count; ++i) {
    if (!same_memory(phases[a.first + i], phases[b.first + i])) return false;
  }
  return true;
}

// "0", "0.2" (iteration and micro-batch), "-".
std::string iteration_text(const Phase& phase) {
  std::string text = phase.iteration ? std::to_string(*phase.iteration) : "-";
  return phase.micro ? fmt::format("{}.{}", text, *phase.micro) : text;
}

// A line of the table: a phase, or iterations that only repeat the one before.
struct PhaseRow {
  const Phase* phase = nullptr;
  std::string note;  // where there is no phase: "iterations 2 to 9: the same"
};

std::vector<PhaseRow> phase_rows(const std::vector<Phase>& phases) {
  std::vector<PhaseRow> rows;
  std::vector<Group> groups = group_by_iteration(phases);
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t end = i;
    while (i > 0 && end < groups.size() && same_group(phases, groups[i - 1], groups[end])) ++end;
    if (end > i) {
      auto from = phases[groups[i].first].iteration.value_or(0);
      auto to = phases[groups[end - 1].first].iteration.value_or(0);
      rows.push_back({nullptr, from == to ? fmt::format("iteration {}: the same", from)
                                          : fmt::format("iterations {} to {}: the same", from, to)});
      i = end - 1;
      continue;
    }
    for (size_t j = 0; j < groups[i].count; ++j) rows.push_back({&phases[groups[i].first + j], ""});
  }
  return rows;
}

Table phase_table(const Run& run, const char* iteration_title, bool with_time) {
  std::vector<TableColumn> columns = {
      {.title = "phase", .kind = TableColumn::Kind::name, .width = name_width, .least = longest_name},
      {.title = iteration_title, .width = iteration_width}};
  auto is_shown = [&](const Statistic<Phase>& statistic) {
    return with_time || statistic.unit == Unit::bytes;
  };
  for (const Statistic<Phase>& statistic : phase_statistics) {
    if (!is_shown(statistic)) continue;
    bool is_allocated = columns.size() < 4;  // the first two numbers stay however narrow it is
    columns.push_back({.title = statistic.title,
                       .width = statistic.unit == Unit::bytes ? bytes_width : time_width,
                       .is_optional = !is_allocated});
  }
  Table table(std::move(columns));
  for (const PhaseRow& row : phase_rows(run.phases)) {
    if (!row.phase) {
      table.add_note(row.note);
      continue;
    }
    TableRow& added = table.add({row.phase->name, iteration_text(*row.phase)});
    for (const Statistic<Phase>& statistic : phase_statistics) {
      if (is_shown(statistic)) added.cells.push_back(cell_of(statistic, *row.phase));
    }
  }
  return table;
}

}  // namespace

std::string phase_text(const Run& run, const TextStyle& style) {
  return run.phases.empty() ? "" : phase_table(run, "iter", true).text(style) + "\n";
}

std::string phase_markdown(const Run& run) { return phase_table(run, "iteration", false).markdown(); }

}  // namespace torchmem
