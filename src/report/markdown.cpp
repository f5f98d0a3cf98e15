#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "report/accuracy.h"
#include "report/breakdown_text.h"
#include "report/markup.h"
#include "report/module_tree.h"
#include "report/phase_table.h"
#include "report/run_header.h"
#include "report/shortage.h"
#include "report/table.h"
#include "report/text.h"
#include "run/utf8.h"
#include "torchmem/bytes.h"
#include "torchmem/report.h"

namespace torchmem {

namespace {

// Within a summary there is HTML, and no Markdown.
std::string html_escaped(const std::string& text) {
  std::string result;
  for (char c : valid_utf8(text)) result += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return result;
}

std::string folded(const std::string& summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", summary, content);
}

Table owner_table(const char* title, bool has_own = false) {
  std::vector<TableColumn> columns = {
      {.title = title, .kind = TableColumn::Kind::name}, {.title = "bytes"}, {.title = "share"}};
  if (has_own) columns.push_back({.title = "own"});
  return Table(std::move(columns));
}

std::string share_markdown(const char* title, const std::vector<UsageEntry>& shares, uint64_t whole,
                           size_t top) {
  Table table = owner_table(title);
  add_shares(table, shares, whole, top);
  return table.markdown();
}

std::string breakdown_tables(const Breakdown& breakdown, size_t top) {
  uint64_t whole = breakdown.totals.allocated;
  if (whole == 0) return "";
  Table categories = owner_table("category");
  add_categories(categories, breakdown);
  Table modules = owner_table("module", true);
  std::vector<ShownModule> shown = modules_to_show(breakdown.root, top);
  for (const ShownModule& module : shown) {
    std::string name = module.depth == 0 ? "(model)" : module.module->path;
    std::string type = short_type(module.module->type);
    add_share(modules, type.empty() ? name : name + " " + type, module.module->inclusive, whole)
        .cells.push_back(bytes_cell(module.module->own));
  }
  std::string text = categories.markdown() + "\n";
  if (shown.size() > 1) text += modules.markdown() + "\n";
  if (!breakdown.ops.empty()) {
    text += folded("Operators and lines", share_markdown("operator", breakdown.ops, whole, top) + "\n" +
                                              share_markdown("line", breakdown.lines, whole, top));
  }
  return text;
}

std::string place(const std::optional<std::string>& phase, const std::optional<int64_t>& iteration) {
  return phase ? markdown_text(phase_name(*phase, iteration ? &*iteration : nullptr)) : std::string();
}

std::string growth_markdown(const Analysis& analysis) {
  if (!analysis.growth()) return "";
  const Growth& growth = *analysis.growth();
  std::string text = fmt::format("**Grows by {} an iteration**, from iteration {} on",
                                 format_bytes(growth.bytes_per_iteration), growth.first_iteration);
  for (const auto* owners : {&growth.categories, &growth.modules, &growth.ops, &growth.lines}) {
    if (!owners->empty() && !owners->front().name.empty()) text += ", " + markdown_text(owners->front().name);
  }
  if (std::optional<uint64_t> left = analysis.iterations_left()) {
    text += fmt::format("; {} (the {}) is reached after at most {}", format_bytes(*analysis.room()),
                        analysis.has_limit() ? "limit" : "device", counted(*left, "more iteration"));
  }
  return text + ".\n\n";
}

// The peak's tables, or the end's with the reason, then those of the moments that were asked for.
std::string moments_markdown(const Analysis& analysis, size_t top) {
  std::string text;
  if (analysis.at_peak()) {
    text += breakdown_tables(*analysis.at_peak(), top);
  } else if (analysis.at_end()) {
    text += fmt::format("Only the end is known: {}.\n\n{}", markdown_text(analysis.gap()),
                        breakdown_tables(*analysis.at_end(), top));
  }
  for (const Breakdown& breakdown : analysis.points()) {
    text +=
        folded(fmt::format("At {}: {} allocated, {} reserved", html_escaped(breakdown.point.name),
                           format_bytes(breakdown.totals.allocated), format_bytes(breakdown.totals.reserved)),
               breakdown_tables(breakdown, top));
  }
  return text + growth_markdown(analysis);
}

std::string peak_markdown(const Peak& peak) {
  Table table({{.title = "peak allocated", .kind = TableColumn::Kind::name},
               {.title = "peak reserved"},
               {.title = "on the device"},
               {.title = "where"}});
  std::string where;
  if (peak.phase) where = phase_name(*peak.phase, peak.iteration ? &*peak.iteration : nullptr);
  table.add({number_cell(fmt::format("**{}**", format_bytes(peak.allocated))), bytes_cell(peak.reserved),
             bytes_cell(peak.device_bytes), where});
  return table.markdown() + "\n";
}

}  // namespace

std::string profile_markdown(const Analysis& analysis, size_t top) {
  const Run& run = analysis.run();
  std::string text;
  auto line = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : " · ") + markdown_text(part);
  };
  line(model_name(run));
  line(device_text(run));
  line(arguments_text(run));
  text = "### Memory\n\n" + (text.empty() ? "" : text + "\n\n");
  if (std::string doubt = doubt_text(run); !doubt.empty())
    text = fmt::format("**{}**\n\n{}", markdown_text(doubt), text);
  if (run.error) {
    bool memory = run.error->kind == ErrorKind::out_of_memory;
    text += fmt::format("**{}{}:** {}\n\n", memory ? "Out of memory" : "Ended",
                        run.error->phase ? " in " + place(run.error->phase, run.error->iteration) : "",
                        markdown_text(without_vain_advice(run.error->message)));
  }
  if (analysis.peak()) text += peak_markdown(*analysis.peak());
  text += moments_markdown(analysis, top);
  if (!run.phases.empty()) text += folded("Phases", phase_markdown(run));
  return text + markdown_text(accuracy_line(run)) + "\n";
}

std::string snapshot_markdown(const Run& run, const std::string& name, const std::list<Analysis>& analyses,
                              size_t top) {
  bool are_several = run.devices().size() > 1;
  if (run.is_ours && analyses.size() == 1 && !are_several) return profile_markdown(analyses.front(), top);
  std::string text = fmt::format("### Memory in {}\n\n", markdown_text(name));
  if (analyses.empty()) return text + "Nothing is in it: no segments and no trace.\n";
  for (const Analysis& analysis : analyses) {
    if (are_several) text += fmt::format("#### Device {}\n\n", analysis.device());
    if (analysis.at_peak()) {
      Peak peak;
      peak.allocated = analysis.at_peak()->totals.allocated;
      peak.reserved = analysis.at_reserved_peak()->totals.reserved;
      peak.phase = analysis.at_peak()->point.phase;
      peak.iteration = analysis.at_peak()->point.iteration;
      text += peak_markdown(peak);
    }
    text += moments_markdown(analysis, top);
  }
  return text;
}

}  // namespace torchmem
