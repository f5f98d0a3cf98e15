#include "report/gate_report.h"

#include <algorithm>
#include <string_view>

#include "report/markup.h"
#include "report/outcome_report.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t name_width = 26;
constexpr size_t cell_width = 13;
constexpr size_t shown_growth = 8;

std::string bytes_text(uint64_t bytes) { return format_count(bytes) + " B"; }

std::string bound_name(const GateCheck& check) {
  return check.baseline ? "the baseline's " + bytes_text(*check.baseline) + " and the tolerance"
                        : "the budget";
}

// "peak allocated: 1,025 B, 1 B more than the 1,024 B that the budget allows".
std::string failure_text(const GateCheck& check) {
  return check.name + ": " + bytes_text(check.measured) + ", " + bytes_text(check.measured - check.allowed) +
         " more than the " + bytes_text(check.allowed) + " that " + bound_name(check) +
         (check.baseline ? " allow" : " allows");
}

std::string row(const GateCheck& check) {
  return pad_right(shorten(check.name, name_width - 1), name_width) +
         pad_left(format_bytes(check.measured), cell_width) +
         pad_left(check.baseline ? format_bytes(*check.baseline) : "budget", cell_width) +
         pad_left(format_bytes(check.allowed), cell_width) + "  " + (check.passed() ? "passed" : "FAILED") +
         "\n";
}

std::string growth_line(const GateGrowth& growth) {
  return growth.name + " " + signed_bytes(growth.baseline, growth.measured) + " (" +
         format_bytes(growth.baseline) + " to " + format_bytes(growth.measured) + ")";
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

bool GateReport::passed() const {
  return std::all_of(checks.begin(), checks.end(), [](const GateCheck& check) { return check.passed(); });
}

std::string gate_text(const GateReport& report) {
  std::string text = wrap(report.what, 0);
  if (!report.against.empty()) text += wrap("against " + report.against, 0);
  for (const std::string& warning : report.warnings) text += wrap("warning: " + warning, 0);
  text += "\n" + pad_right("", name_width) + pad_left("measured", cell_width) +
          pad_left("baseline", cell_width) + pad_left("allowed", cell_width) + "\n";
  for (const GateCheck& check : report.checks) text += row(check);
  text += "\n";
  for (const GateCheck& check : report.checks) {
    if (!check.passed()) text += wrap(failure_text(check), 0);
  }
  if (!report.growth.empty()) text += "what grew at the peak of allocated:\n";
  for (size_t i = 0; i < std::min(report.growth.size(), shown_growth); ++i)
    text += wrap(growth_line(report.growth[i]), 2);
  if (report.growth.size() > shown_growth)
    text += "  and " + format_count(report.growth.size() - shown_growth) + " more (--json lists all)\n";
  return text + (report.passed() ? "gate: passed\n" : "gate: failed\n");
}

json gate_json(const GateReport& report) {
  json result = {{"schema", "torchmem.gate/1"}, {"torchmem", TORCHMEM_VERSION}, {"passed", report.passed()}};
  for (const char* name : {"model", "device", "software", "arguments"}) {
    if (report.facts.contains(name)) result[name] = report.facts[name];
  }
  result["checks"] = json::array();
  for (const GateCheck& check : report.checks) {
    json entry = {{"name", check.name},
                  {"measured_bytes", check.measured},
                  {"allowed_bytes", check.allowed},
                  {"against", check.baseline ? "baseline" : "budget"},
                  {"passed", check.passed()}};
    if (check.baseline) entry["baseline_bytes"] = *check.baseline;
    result["checks"].push_back(std::move(entry));
  }
  result["growth"] = json::array();
  for (const GateGrowth& growth : report.growth) {
    result["growth"].push_back(
        {{"name", growth.name}, {"baseline_bytes", growth.baseline}, {"measured_bytes", growth.measured}});
  }
  result["warnings"] = report.warnings;
  result["numbers"] = report.numbers;
  result["error"] = nullptr;
  return result;
}

std::string gate_junit(const GateReport& report) {
  size_t failures = static_cast<size_t>(std::count_if(
      report.checks.begin(), report.checks.end(), [](const GateCheck& check) { return !check.passed(); }));
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"torchmem gate\" tests=\"" +
      std::to_string(report.checks.size()) + "\" failures=\"" + std::to_string(failures) + "\">\n";
  for (const GateCheck& check : report.checks) {
    text += "  <testcase classname=\"" + xml(report.model) + "\" name=\"" +
            xml(check.name + (check.baseline ? " against the baseline" : " against the budget")) + "\"";
    if (check.passed()) {
      text += "/>\n";
      continue;
    }
    text += ">\n    <failure message=\"" + xml(failure_text(check)) + "\">";
    for (const GateGrowth& growth : report.growth) text += xml(growth_line(growth)) + "\n";
    text += "</failure>\n  </testcase>\n";
  }
  return text + "</testsuite>\n";
}

std::string gate_markdown(const GateReport& report) {
  std::string text = std::string("**torchmem gate: ") + (report.passed() ? "passed" : "failed") + "** for " +
                     markdown_cell(report.what) + "\n\n| | measured | baseline | allowed | |\n" +
                     "| --- | ---: | ---: | ---: | --- |\n";
  for (const GateCheck& check : report.checks) {
    text += "| " + markdown_cell(check.name) + " | " + bytes_exactly(check.measured) + " | " +
            (check.baseline ? bytes_exactly(*check.baseline) : "budget") + " | " +
            bytes_exactly(check.allowed) + " | " + (check.passed() ? "passed" : "**failed**") + " |\n";
  }
  if (!report.growth.empty()) text += "\nWhat grew at the peak of allocated:\n\n";
  for (size_t i = 0; i < std::min(report.growth.size(), shown_growth); ++i)
    text += "- " + markdown_cell(growth_line(report.growth[i])) + "\n";
  if (!report.warnings.empty()) text += "\n";
  for (const std::string& warning : report.warnings) text += "- warning: " + markdown_cell(warning) + "\n";
  return text;
}

std::string gate_annotations(const GateReport& report) {
  std::string text;
  for (const std::string& warning : report.warnings)
    text += "::warning title=torchmem gate::" + escaped(warning) + "\n";
  for (const GateCheck& check : report.checks) {
    if (check.passed()) continue;
    std::string message = failure_text(check);
    if (check.baseline && !report.growth.empty()) message += "\ngrew: " + growth_line(report.growth.front());
    text += "::error title=torchmem gate::" + escaped(message) + "\n";
  }
  return text;
}

}  // namespace torchmem
