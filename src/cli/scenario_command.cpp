#include <map>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "cli/value_options.h"
#include "launch/device_choice.h"
#include "launch/engine_info.h"
#include "launch/engine_process.h"
#include "launch/progress.h"
#include "report/style.h"
#include "request/alloc_conf.h"
#include "request/fields.h"
#include "request/scenario_file.h"
#include "torchmem/allocator_state.h"
#include "torchmem/report.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "FILE.json: {\"actions\": [{\"alloc\": \"4GiB\", \"as\": \"a\"}, {\"release\": \"a\"}, ...]}; "
    "docs/scenario.md describes them all.\n"
    "Exit codes: 0 done, all expectations met; 1 one was not met, or out of memory; 2 no answer; 3 this "
    "machine cannot run it.";

class ScenarioCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", path_, "The scenario, as JSON")->required();
    app.add_option("--device", device_, "As for profile")->option_text("DEVICE (default auto)");
    app.add_option("--set", settings_, "A value for one of the file's variables; may be repeated")
        ->option_text("NAME=VALUE")
        ->allow_extra_args(false);
    app.add_option("--limit", limit_, "The most that the allocator may reserve, in place of the file's")
        ->option_text("SIZE");
    app.add_option("--alloc-conf", alloc_conf_, "Allocator settings, in place of the file's")
        ->option_text("CONF");
    add_value_options(app, values_);
    app.add_option("--save", save_, "Keep the run, as a memory snapshot that memory_viz opens too")
        ->option_text("RUN.pickle")
        ->group("Output");
    add_html_option(app, html_, "A page that shows the run, in any browser and without a network");
    add_markdown_option(app, markdown_);
    app.add_flag("--all-rows", all_rows_, "Show every turn of every loop in the text")->group("Output");
    app.footer(footer);
  }

  ExitCode run() override {
    ScenarioFile file = read_scenario_file(path_, variables());
    std::vector<std::string> inputs = file.models;
    inputs.push_back(path_);
    if (!values_.assume_file.empty()) inputs.push_back(values_.assume_file);
    check_outputs(outputs(), inputs);
    outputs_checked = true;
    RunRequest request = make_request(file);
    DeviceChoice device = choose_device(device_);
    Progress progress("running " + path_, common.quiet);
    Run run = run_engine(request, device);
    progress.end();
    add_engine_info(run, request, device);
    if (!save_.empty()) complete_block_sizes(run);
    return report(file.scenario, run);
  }

  json error_document(const Error& error) const override {
    Run run;
    run.error = run_error(error);
    return scenario_json({}, {}, run);
  }

 private:
  std::vector<OutputPath> outputs() const {
    return {{"--save", save_}, {"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}};
  }

  std::map<std::string, std::string> variables() const {
    std::map<std::string, std::string> values;
    for (const std::string& setting : settings_) {
      size_t equals = setting.find('=');
      if (equals == std::string::npos || equals == 0)
        throw Error(ErrorKind::bad_usage, "--set " + setting + ": expected NAME=VALUE");
      if (!values.emplace(setting.substr(0, equals), setting.substr(equals + 1)).second)
        throw Error(ErrorKind::bad_usage, "--set " + setting + ": the name is given twice");
    }
    return values;
  }

  RunRequest make_request(const ScenarioFile& file) const {
    RunRequest request;
    request.command = "scenario";
    request.model = path_;
    request.log_level = common.log_level;
    request.actions = engine_actions(file.scenario);
    if (!alloc_conf_.empty()) check_alloc_conf(alloc_conf_, "--alloc-conf");
    request.alloc_conf = file.alloc_conf;
    if (!alloc_conf_.empty()) request.alloc_conf = alloc_conf_;
    request.limit_bytes = file.limit_bytes;
    if (!limit_.empty()) request.limit_bytes = limit_bytes_of(limit_);
    static_cast<ValueSettings&>(request) = value_settings(values_);
    return request;
  }

  ExitCode report(const Scenario& scenario, const Run& run) {
    ScenarioResult result = scenario_result(scenario, run);
    const bool has_text = !take_stdout(outputs()) && (!run.error || !result.rows.empty());
    auto text = [&] { return scenario_text(scenario, result, run, all_rows_, output_style()); };
    result_written = true;
    write_results(
        {{{"--save", save_}, [&] { return write_run(run); }},
         {{"--html", html_}, [&] { return html_report(run, path_); }},
         {{"--json", common.json}, [&] { return json_text(scenario_json(scenario, result, run)); }},
         {{"--markdown", markdown_}, [&] { return scenario_markdown(scenario, result, run, all_rows_); }}},
        has_text ? text : std::function<std::string()>());
    if (run.error) {
      // The row of the action that ran out of memory has told it.
      const bool is_told = has_text && !result.rows.back().out_of_memory.is_null();
      if (!is_told) say(scenario, run);
      return exit_code_of(run.error->kind);
    }
    return result.unmet ? ExitCode::no : ExitCode::yes;
  }

  // With the place of the action in the file.
  static void say(const Scenario& scenario, Run run) {
    if (run.error->iteration) {
      size_t position = 0;
      for (const ScenarioStep& step : scenario.steps) {
        if (step.action.is_null()) continue;
        if (position++ != static_cast<size_t>(*run.error->iteration)) continue;
        run.error->message =
            printable(step.place + (step.loop.empty() ? "" : " (" + step.loop + ")") + ", " + step.label) +
            ": " + run.error->message;
        break;
      }
    }
    run.error->phase.reset();
    say_error(run, "");
  }

  std::string path_;
  std::string device_ = "auto";
  std::vector<std::string> settings_;
  std::string limit_;
  std::string alloc_conf_;
  ValueOptions values_;
  std::string save_;
  std::string html_;
  std::string markdown_;
  bool all_rows_ = false;
};

}  // namespace

std::unique_ptr<Command> make_scenario_command() { return std::make_unique<ScenarioCommand>(); }

}  // namespace torchmem
