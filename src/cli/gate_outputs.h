// Where a gate's result goes: JSON, JUnit's XML, Markdown, GitHub's annotations, and text.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/output.h"
#include "report/gate_report.h"

namespace torchmem {

struct GateOutputs {
  // Paths; "-" is standard output, "" none.
  std::string json;
  std::string junit;
  std::string markdown;
  std::string updated;              // the baseline that is to be written; "" for none
  std::vector<std::string> inputs;  // what the command reads, none of which may be written to
  bool checked = false;             // check() has found nothing wrong

  // Throws Error(bad_usage) where one cannot be written, or two would go to standard output.
  void check();

  // Whether the text is printed: no document has standard output.
  bool prints_text() const;

  // Files before standard output, whose reader may close it. What cannot be written is said, and takes
  // nothing from the rest; false then.
  bool write(const GateReport& report) const;

  // In place of a result, where there is none: no older one may be taken for it. The caller writes the JSON.
  void write_error(const GateReport& report) const { write_documents(report, false); }

 private:
  bool write_documents(const GateReport& report, bool is_result) const;
  bool may_write(const OutputPath& output) const;
};

// --junit and --markdown.
void add_gate_outputs(CLI::App& app, GateOutputs& outputs);

}  // namespace torchmem
