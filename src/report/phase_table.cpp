#include "report/phase_table.h"

#include <cstdio>

#include "report/style.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

std::string cell(const std::optional<Usage>& usage, uint64_t Usage::*member) {
  return pad_left(usage ? format_bytes((*usage).*member) : "-", 13);
}

std::string phase_line(const Phase& phase) {
  char time[32] = "-";
  if (phase.duration_ms) std::snprintf(time, sizeof time, "%.1f", *phase.duration_ms);
  return pad_right(shorten(printable(phase.name), 9), 9) + pad_left(shorten(iteration_text(phase), 7), 8) +
         cell(phase.allocated, &Usage::current) + cell(phase.allocated, &Usage::peak) +
         cell(phase.reserved, &Usage::current) + cell(phase.reserved, &Usage::peak) + pad_left(time, 11) +
         "\n";
}

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

}  // namespace

std::string iteration_text(const Phase& phase) {
  std::string text = phase.iteration ? std::to_string(*phase.iteration) : "-";
  return phase.micro ? text + "." + std::to_string(*phase.micro) : text;
}

std::vector<PhaseRow> phase_rows(const std::vector<Phase>& phases) {
  std::vector<PhaseRow> rows;
  std::vector<Group> groups = group_by_iteration(phases);
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t end = i;
    while (i > 0 && end < groups.size() && same_group(phases, groups[i - 1], groups[end])) ++end;
    if (end > i) {
      std::string from = std::to_string(phases[groups[i].first].iteration.value_or(0));
      std::string to = std::to_string(phases[groups[end - 1].first].iteration.value_or(0));
      rows.push_back({nullptr, from == to ? "iteration " + from + ": the same"
                                          : "iterations " + from + " to " + to + ": the same"});
      i = end - 1;
      continue;
    }
    for (size_t j = 0; j < groups[i].count; ++j) rows.push_back({&phases[groups[i].first + j], ""});
  }
  return rows;
}

std::string phase_table(const Run& run, const TextStyle& style) {
  if (run.phases.empty()) return "";
  std::string text =
      tinted(style, Tint::bold,
             pad_right("phase", 9) + pad_left("iter", 8) + pad_left("allocated", 13) + pad_left("peak", 13) +
                 pad_left("reserved", 13) + pad_left("peak", 13) + pad_left("ms", 11)) +
      "\n";
  for (const PhaseRow& row : phase_rows(run.phases)) {
    text += row.phase ? phase_line(*row.phase) : tinted(style, Tint::dim, "  " + row.note) + "\n";
  }
  return text + "\n";
}

}  // namespace torchmem
