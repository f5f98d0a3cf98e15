#include "report/gate_report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "report/accuracy.h"
#include "report/markup.h"
#include "report/run_result_text.h"
#include "report/style.h"
#include "report/table.h"
#include "report/text.h"
#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

constexpr size_t name_width = 26;
constexpr size_t cell_width = 13;
constexpr size_t shown_growth = 8;
constexpr size_t annotated_name = 60;  // of the model or program, in an annotation

// Somebody else's text, with nothing in it that a terminal would act on.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text);
}

std::string bytes_text(uint64_t bytes) { return format_count(bytes) + " B"; }

std::string bound_text(const GateCheck& check) {
  if (!check.baseline) return "the budget allows";
  return fmt::format("the baseline's {} and the tolerance allow", bytes_text(*check.baseline));
}

// "peak allocated: 1,025 B, 1 B more than the 1,024 B that the budget allows".
std::string failure_text(const GateCheck& check) {
  return fmt::format("{}: {}, {} more than the {} that {}", check.name, bytes_text(check.measured),
                     bytes_text(check.measured - check.allowed), bytes_text(check.allowed),
                     bound_text(check));
}

Table check_table(const GateReport& report) {
  Table table({{.title = "", .kind = TableColumn::Kind::name, .width = name_width},
               {.title = "measured", .width = cell_width},
               {.title = "baseline", .width = cell_width},
               {.title = "allowed", .width = cell_width}});
  for (const GateCheck& check : report.checks) {
    table
        .add({one_line(check.name), bytes_cell(check.measured),
              check.baseline ? bytes_cell(*check.baseline) : number_cell("budget"),
              bytes_cell(check.allowed)})
        .mark = check.passed() ? "passed" : "FAILED";
  }
  return table;
}

// With every byte, and the verdict in a column.
std::string check_markdown(const GateReport& report) {
  Table table({{.title = "", .kind = TableColumn::Kind::name},
               {.title = "measured"},
               {.title = "baseline"},
               {.title = "allowed"},
               {.title = "", .kind = TableColumn::Kind::name}});
  for (const GateCheck& check : report.checks) {
    table.add({one_line(check.name), number_cell(bytes_exactly(check.measured)),
               number_cell(check.baseline ? bytes_exactly(*check.baseline) : "budget"),
               number_cell(bytes_exactly(check.allowed)),
               number_cell(check.passed() ? "passed" : "**failed**")});
  }
  return table.markdown();
}

std::string growth_line(const GateGrowth& growth) {
  return fmt::format("{} {} ({} to {})", growth.name, signed_bytes(growth.baseline, growth.measured),
                     format_bytes(growth.baseline), format_bytes(growth.measured));
}

// "20.00 MiB of the large pool, 4.00 MiB free, held by 2 blocks, the largest 1.00 MiB: activations,
// aten::mm".
std::string segment_line(const HeldSegment& segment) {
  std::string text = fmt::format("{} of the {}, {} free, ", format_bytes(segment.bytes), segment.pool,
                                 format_bytes(segment.free));
  if (segment.blocks == 0) return text + "nothing is in it: empty_cache() would release it";
  return text + fmt::format("held by {}, the largest {}: {}", counted(segment.blocks, "block"),
                            format_bytes(segment.largest_bytes), segment.largest);
}

// What explains checks that failed: a title and its lines.
struct Explanation {
  const char* title;
  std::vector<std::string> lines;
};

bool is_of_allocated(const GateCheck& check) { return check.metric == Metric::allocated; }

std::vector<Explanation> explanations(const GateReport& report) {
  std::vector<Explanation> all;
  auto add = [&](const char* title, const auto& list, auto line_of) {
    if (list.empty()) return;
    all.push_back({title, {}});
    for (const auto& entry : list) all.back().lines.push_back(line_of(entry));
  };
  add("what grew at the peak of allocated", report.growth, growth_line);
  add("what grew at the peak of reserved", report.reserved_growth, growth_line);
  add("segments with the most free in them at the peak of reserved", report.segments, segment_line);
  return all;
}

// "peak allocated 48.03 MiB (50,364,416 B), peak reserved ...".
std::string numbers_text(const GateNumbers& numbers) {
  std::vector<std::string> peaks;
  for (Metric metric : metrics) {
    if (const auto& bytes = numbers.peak[metric])
      peaks.push_back(fmt::format("peak {} {}", name_of(metric), bytes_exactly(*bytes)));
  }
  return joined(peaks);
}

// What was written, or measured where there is no table of it.
std::string outcome_text(const GateReport& report) {
  if (!report.numbers) return "";
  if (!report.written.empty())
    return fmt::format("wrote the baseline {}: {}", report.written, numbers_text(*report.numbers));
  return report.checks.empty() ? numbers_text(*report.numbers) : "";
}

// How far that can be trusted.
std::string trust_text(const GateReport& report) { return report.run ? accuracy_line(*report.run) : ""; }

std::string problem_text(const GateReport& report) {
  const RunError& error = *report.error;
  if (!error.phase && error.kind != ErrorKind::out_of_memory) return error.message;
  Run run;
  run.error = error;
  return error_text(run);
}

std::string capitalized(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

const char* verdict_text(GateVerdict verdict) {
  return verdict == GateVerdict::passed ? "passed" : verdict == GateVerdict::failed ? "failed" : "error";
}

// GitHub's runner takes a line whose first word starts with "::" as a command, from a text of somebody else's
// too.
std::string without_commands(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    size_t first = std::min(line.size(), line.find("::"));
    auto is_graphic = [](char c) { return c > ' ' && c < 0x7f; };
    bool is_command = first < line.size() && std::none_of(line.begin(), line.begin() + first, is_graphic);
    result += fmt::format("{}{}{}\n", line.substr(0, first), is_command ? "\\" : "", line.substr(first));
  }
  return result;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '%') {
      result += "%25";
    } else if (c == '\r') {
      result += "%0D";
    } else if (c == '\n') {
      result += "%0A";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

GateVerdict GateReport::verdict() const {
  if (error) return error->kind == ErrorKind::out_of_memory ? GateVerdict::failed : GateVerdict::error;
  bool all = std::all_of(checks.begin(), checks.end(), [](const GateCheck& check) { return check.passed(); });
  return all ? GateVerdict::passed : GateVerdict::failed;
}

std::string gate_text(const GateReport& report, const TextStyle& style) {
  std::string text = wrap(one_line(report.what), 0, style);
  if (!report.against.empty()) text += wrap("against " + one_line(report.against), 0, style);
  for (const std::string& warning : report.warnings) text += wrap("warning: " + one_line(warning), 0, style);
  if (!report.checks.empty()) text += "\n" + check_table(report).text(style);
  text += "\n";
  for (const GateCheck& check : report.checks) {
    if (!check.passed()) text += wrap(one_line(failure_text(check)), 0, style);
  }
  for (const auto& [title, lines] : explanations(report)) {
    text += fmt::format("{}:\n", title);
    for (size_t i = 0; i < std::min(lines.size(), shown_growth); ++i)
      text += wrap(one_line(lines[i]), 2, style);
    if (lines.size() > shown_growth)
      text += fmt::format("  and {} more (--json lists all)\n", format_count(lines.size() - shown_growth));
  }
  if (report.error) text += wrap(one_line(problem_text(report)), 0, style);
  text += wrap(one_line(outcome_text(report)), 0, style);
  text += wrap(trust_text(report), 0, style);
  if (!report.checks.empty() || report.error)
    text += fmt::format("gate: {}\n", verdict_text(report.verdict()));
  return without_commands(text);
}

std::string gate_junit(const GateReport& report) {
  const bool is_error = report.verdict() == GateVerdict::error;
  size_t failures = static_cast<size_t>(std::count_if(
      report.checks.begin(), report.checks.end(), [](const GateCheck& check) { return !check.passed(); }));
  if (report.error && !is_error) ++failures;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"torchmem gate\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
      report.checks.size() + (report.error ? 1 : 0), failures, is_error ? 1 : 0);
  auto open = [&](const std::string& name) {
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", xml(report.model), xml(name));
  };
  for (const GateCheck& check : report.checks) {
    open(check.name + (check.baseline ? " against the baseline" : " against the budget"));
    if (check.passed()) {
      text += "/>\n";
      continue;
    }
    text += fmt::format(">\n    <failure message=\"{}\">", xml(failure_text(check)));
    const auto& grew = is_of_allocated(check) ? report.growth : report.reserved_growth;
    for (const GateGrowth& growth : grew) text += xml(growth_line(growth)) + "\n";
    if (!is_of_allocated(check)) {
      for (const HeldSegment& segment : report.segments) text += xml(segment_line(segment)) + "\n";
    }
    text += "</failure>\n  </testcase>\n";
  }
  if (report.error) {
    open("the run");
    text += fmt::format(">\n    <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n  </testcase>\n",
                        is_error ? "error" : "failure", name_of(report.error->kind),
                        xml(problem_text(report)), xml(report.error->message));
  }
  text += "  <system-out>" + xml(report.what) + "\n";
  for (const std::string& warning : report.warnings) text += xml("warning: " + warning) + "\n";
  for (const std::string& line : {outcome_text(report), trust_text(report)})
    text += line.empty() ? "" : xml(line) + "\n";
  return text + "</system-out>\n</testsuite>\n";
}

std::string gate_markdown(const GateReport& report) {
  std::string text = fmt::format("**torchmem gate: {}** for {}\n", verdict_text(report.verdict()),
                                 markdown_text(one_line(report.what)));
  if (!report.checks.empty()) text += "\n" + check_markdown(report);
  for (const auto& [title, lines] : explanations(report)) {
    text += fmt::format("\n{}:\n\n", capitalized(title));
    for (size_t i = 0; i < std::min(lines.size(), shown_growth); ++i)
      text += "- " + markdown_text(one_line(lines[i])) + "\n";
  }
  if (!report.warnings.empty()) text += "\n";
  for (const std::string& warning : report.warnings)
    text += "- warning: " + markdown_text(one_line(warning)) + "\n";
  for (const std::string& line :
       {report.error ? problem_text(report) : std::string(), outcome_text(report), trust_text(report)}) {
    if (!line.empty()) text += "\n" + markdown_text(one_line(line)) + "\n";
  }
  return text;
}

std::string gate_annotations(const GateReport& report) {
  std::string text;
  const std::string of = report.model.empty() ? "" : shorten(one_line(report.model), annotated_name) + ": ";
  auto add = [&](const char* command, const std::string& message) {
    text += fmt::format("::{} title=torchmem gate::{}\n", command, escaped(of + message));
  };
  for (const std::string& warning : report.warnings) add("warning", warning);
  for (const GateCheck& check : report.checks) {
    if (check.passed()) continue;
    std::string message = failure_text(check);
    const auto& grew = is_of_allocated(check) ? report.growth : report.reserved_growth;
    if (check.baseline && !grew.empty()) message += "\ngrew: " + growth_line(grew.front());
    add("error", message);
  }
  if (report.error) add("error", problem_text(report));
  return text;
}

}  // namespace torchmem
