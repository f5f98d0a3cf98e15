#include "cli/gate_outputs.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "cli/terminal.h"
#include "report/gate_json.h"

namespace torchmem {

namespace {

bool is_github() {
  const char* github = std::getenv("GITHUB_ACTIONS");
  return github && std::string(github) == "true";
}

// Whether it was done; what was wrong is said.
bool attempt(const std::function<void()>& write) {
  try {
    write();
    return true;
  } catch (const Error& error) {
    std::cerr << "torchmem: " << error.what() << std::endl;
    return false;
  }
}

}  // namespace

void GateOutputs::check() {
  check_outputs({{"--baseline", updated}, {"--json", json}, {"--junit", junit}, {"--markdown", markdown}},
                inputs);
  checked = true;
}

bool GateOutputs::prints_text() const { return json != "-" && junit != "-" && markdown != "-"; }

bool GateOutputs::write(const GateReport& report) const {
  bool all = write_documents(report, true);
  // An error alone is said on standard error.
  const bool has_text = report.verdict() != GateVerdict::error || report.numbers;
  if (has_text && prints_text()) all &= attempt([&] { write_stdout(gate_text(report, output_style())); });
  return all;
}

bool GateOutputs::write_documents(const GateReport& report, bool is_result) const {
  bool all = true;
  for (bool to_stdout : {false, true}) {
    auto is_due = [&](const OutputPath& output) {
      return !output.path.empty() && (output.path == "-") == to_stdout && may_write(output);
    };
    auto put = [&](const OutputPath& output, const std::string& text) {
      if (!is_due(output)) return;
      all &=
          attempt([&] { to_stdout ? write_stdout(text) : write_output(output.option, output.path, text); });
    };
    if (is_result && is_due({"--json", json}))
      all &= attempt([&] { write_json_output(json, gate_json(report)); });
    put({"--junit", junit}, gate_junit(report));
    put({"--markdown", markdown}, gate_markdown(report));
    if (!to_stdout && is_github()) std::cerr << gate_annotations(report) << std::flush;
  }
  return all;
}

// Where the outputs were refused, those of them that were not at fault can still be written.
bool GateOutputs::may_write(const OutputPath& output) const {
  if (checked) return true;
  std::vector<std::string> others = inputs;
  others.push_back(updated);
  for (const OutputPath& other : {OutputPath{"--json", json}, {"--junit", junit}, {"--markdown", markdown}}) {
    if (other.option != output.option) others.push_back(other.path);
  }
  try {
    check_outputs({output}, others);
    return output.path != "-" || std::find(others.begin(), others.end(), "-") == others.end();
  } catch (const Error&) {
    return false;
  }
}

void add_gate_outputs(CLI::App& app, GateOutputs& outputs) {
  app.add_option("--junit", outputs.junit, "The result as JUnit XML; - is standard output")
      ->option_text("FILE")
      ->group("Output");
  app.add_option("--markdown", outputs.markdown, "The result as Markdown; - is standard output")
      ->option_text("FILE")
      ->group("Output");
}

}  // namespace torchmem
