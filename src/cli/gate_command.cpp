#include <iostream>

#include "cli/commands.h"
#include "cli/gate_options.h"
#include "cli/gate_outputs.h"
#include "launch/engine_info.h"
#include "launch/layout.h"
#include "launch/program_run.h"
#include "launch/read_processes.h"
#include "launch/runner.h"
#include "report/gate_json.h"
#include "report/process_report.h"

namespace torchmem {

using nlohmann::json;

namespace {

void say(const std::string& message) { std::cerr << "torchmem: " << message << std::endl; }

class GateCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    add_gate_options(app, options_);
    add_gate_outputs(app, outputs_);
  }

  ExitCode run() override {
    outputs_.json = common.json;
    outputs_.inputs = input_files(options_.model);
    if (options_.update) outputs_.updated = options_.baseline;
    if (!options_.update) outputs_.inputs.push_back(options_.baseline);
    try {
      const GateReport report = answer();
      if (!outputs_.write(report)) return ExitCode::could_not;
      if (report.error) return exit_code_of(report.error->kind);
      return report.verdict() == GateVerdict::passed ? ExitCode::yes : ExitCode::no;
    } catch (const Error& error) {
      outputs_.write_error(error_report(error));
      throw;
    } catch (const std::exception& error) {
      outputs_.write_error(error_report(Error(ErrorKind::internal, error.what())));
      throw;
    }
  }

  json error_document(const Error& error) const override { return gate_json(error_report(error)); }

 private:
  GateReport answer() {
    outputs_.check();  // first of all: what else is wrong then goes where it is looked for
    outputs_checked = true;
    const GateQuestion question = read_question(*app_, options_, program);
    const RunResult outcome = question.is_program ? measure_program(run_program()) : run_model();
    GateReport report = judge(question, outcome);
    // Out of memory is a verdict, which the text tells.
    const bool is_told = report.verdict() != GateVerdict::error && outputs_.prints_text();
    if (outcome.run.error) say_error(outcome.run, "", is_told);
    if (report.error && report.error->kind == ErrorKind::decided_by_assumed_values)
      say(report.error->message);
    if (question.updates && !report.error) write_baseline(baseline_of(outcome), report);
    return report;
  }

  RunResult run_model() const {
    const ModelOptions& model = options_.model;
    Runner runner("gate", common.quiet, 1);
    return measure_model(
        runner, {model.model, make_request(model, "profile", common.log_level), choose_device(model.device)});
  }

  ProgramResult run_program() const {
    const std::string& named = options_.model.device;
    const DeviceChoice device = choose_device(named);
    const ValueSettings values = value_settings(options_.model.values);
    ProgramRun ran(program, device, {0, named != "auto" && named != "cuda", false, values});
    const ProgramProcesses processes = read_processes(ran.state());
    std::cerr << processes_text(processes, ran.is_virtual()) << std::flush;
    ProgramResult result{ran.exit_code(), ran.interrupted(), processes.states(), {}, {}};
    for (const ProcessNote& ended : processes.ended) result.ended.push_back(ended.text);
    result.run.assumptions = assumptions_of(processes);
    result.run.info.software.torch = built_torch_version();
    result.run.info.rest["arguments"] = {{"program", program},
                                         {"values", values.values ? json(*values.values) : json()},
                                         {"assume", values.assume ? json(*values.assume) : json()}};
    add_device_info(result.run, device);
    return result;
  }

  // What was measured is told all the same where it cannot be written.
  void write_baseline(const Baseline& baseline, GateReport& report) const {
    try {
      write_output("--baseline", options_.baseline, baseline_to_json(baseline).dump(2) + "\n");
      report.written = options_.baseline;
    } catch (const Error& error) {
      say(error.what());
      report.error = run_error(error);
    }
  }

  GateReport error_report(const Error& error) const {
    GateReport report;
    report.what = report.model = subject_text(options_, program);
    report.error = run_error(error);
    return report;
  }

  const CLI::App* app_ = nullptr;
  GateOptions options_;
  GateOutputs outputs_;
};

}  // namespace

std::unique_ptr<Command> make_gate_command() { return std::make_unique<GateCommand>(); }

}  // namespace torchmem
