#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/commands.h"
#include "cli/engine_facts.h"
#include "cli/layout.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/process_report.h"
#include "cli/program_run.h"
#include "cli/runner.h"
#include "report/gate_report.h"
#include "report/outcome_report.h"
#include "report/text.h"
#include "run/phase_json.h"
#include "torchmem/bytes.h"

namespace torchmem::cli {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --baseline memory.json --update\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --baseline memory.json --tolerance 1%\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --budget 24GiB --metric device\n"
    "  torchmem gate --baseline train.json --tolerance 16MiB -- python3 train.py --epochs 1\n"
    "With GITHUB_ACTIONS set, what failed is said as annotations too.\n"
    "Exit codes: 0 passed; 1 failed; 2 could not, e.g. a baseline of another input; 3 this machine cannot; "
    "130 "
    "interrupted.";

const std::vector<std::string> metric_names = {"allocated", "reserved", "device"};

std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class GateCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    const char* group = "Gate";
    app.add_option("MODEL", options_.model, "A TorchScript file; with -- PROGRAM ARGUMENTS..., none");
    app.add_option("--baseline", baseline_path_, "The numbers to compare with, as --update writes them")
        ->option_text("FILE.json")
        ->group(group);
    app.add_option("--tolerance", tolerance_, "How much more than the baseline passes: a percentage or bytes")
        ->option_text("1%|16MiB (default 0)")
        ->group(group);
    app.add_option("--budget", budget_, "The most that passes, baseline or not")
        ->option_text("SIZE")
        ->group(group);
    app.add_option("--metric", metrics_,
                   "allocated, reserved, or device (with context and modules); repeated for more")
        ->option_text("NAME (default allocated and reserved)")
        ->allow_extra_args(false)
        ->check(CLI::IsMember(metric_names))
        ->group(group);
    app.add_option(
           "--phase", phases_,
           "A phase in place of the whole run: forward:1, or forward for the highest; repeated for more")
        ->option_text("NAME")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--category", categories_,
                   "A category at the peak in place of the whole run, e.g. activations; repeated for more")
        ->option_text("NAME")
        ->allow_extra_args(false)
        ->group(group);
    app.add_flag("--update", update_, "Write the baseline")->group(group);
    add_running_options(app, options_);
    app.add_option("--junit", junit_, "The result as JUnit's XML")->option_text("FILE")->group("Output");
    app.add_option("--markdown", markdown_, "The result as Markdown")->option_text("FILE")->group("Output");
    app.footer(footer);
  }

  ExitCode run() override {
    check_usage();
    json baseline = read_old();
    GateReport report;
    Outcome outcome = program.empty() ? run_model() : run_program();
    if (outcome.run.error) return say_run_error(outcome);
    report.numbers = gate_numbers(outcome);
    report.facts = outcome.run.facts;
    report.what = program.empty() ? where_text(outcome.run) : program_text();
    report.model = program.empty() ? options_.model : program_text();
    json now = make_baseline(report.numbers, report.facts);
    if (!baseline.is_null() && !update_) report.warnings = compare_baselines(baseline, now, baseline_path_);
    Tolerance tolerance = tolerance_.empty() ? Tolerance{} : parse_tolerance(tolerance_, "--tolerance");
    std::optional<uint64_t> budget;
    if (!budget_.empty()) budget = parse_bytes(budget_, "--budget");
    report.checks = check_gate(subjects(), report.numbers, update_ ? json() : baseline, tolerance, budget);
    if (!update_ && std::any_of(report.checks.begin(), report.checks.end(),
                                [](const GateCheck& check) { return check.baseline && !check.passed(); }))
      report.growth = find_gate_growth(report.numbers, baseline);
    if (!baseline_path_.empty() && !update_)
      report.against = baseline_path_ + (tolerance_.empty() ? "" : ", tolerance " + tolerance_);
    if (budget) report.against += (report.against.empty() ? "" : ", and ") + ("a budget of " + budget_);
    if (update_) write_output("--baseline", baseline_path_, now.dump(2) + "\n");
    return give(report);
  }

  json error_document(const Error& error) const override {
    RunError run_error{error.kind(), error.what(), {}, {}, json::object()};
    return failure_document(run_error);
  }

 private:
  static json failure_document(const RunError& error) {
    return {{"schema", "torchmem.gate/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"checks", json::array()},
            {"error", error_to_json(error)}};
  }

  void check_usage() {
    if (program.empty() == options_.model.empty()) {
      throw Error(ErrorKind::bad_usage, "expected either a MODEL, or a program after --");
    }
    if (baseline_path_.empty() && (update_ || !tolerance_.empty())) {
      throw Error(ErrorKind::bad_usage, std::string(update_ ? "--update" : "--tolerance") +
                                            " needs --baseline FILE, the file that it is about");
    }
    if (baseline_path_.empty() && budget_.empty()) {
      throw Error(ErrorKind::bad_usage,
                  "nothing to check against: expected --baseline FILE, --budget SIZE, or both");
    }
    if (!program.empty() && !(phases_.empty() && categories_.empty())) {
      throw Error(ErrorKind::bad_usage,
                  "--phase and --category are for a model: of a program only the peaks of "
                  "its processes are known");
    }
    if (!program.empty() && std::find(metrics_.begin(), metrics_.end(), "device") != metrics_.end())
      throw Error(ErrorKind::bad_usage,
                  "--metric device is for a model: a program's context is not measured");
    if (!program.empty() && !(options_.inputs.empty() && options_.inputs_file.empty()))
      throw Error(ErrorKind::bad_usage, "--input is for a model; a program has its own");
    if (!tolerance_.empty()) parse_tolerance(tolerance_, "--tolerance");
    if (!budget_.empty()) parse_bytes(budget_, "--budget");
    std::vector<std::string> inputs = input_files(options_);
    if (!update_) inputs.push_back(baseline_path_);
    check_outputs({{"--baseline", update_ ? baseline_path_ : ""},
                   {"--json", common.json},
                   {"--junit", junit_},
                   {"--markdown", markdown_}},
                  inputs);
    outputs_checked = true;
  }

  // Before the run, so that a bad baseline costs no time. Null: none is needed.
  json read_old() const {
    if (baseline_path_.empty() || update_) return nullptr;
    std::error_code error;
    if (!std::filesystem::is_regular_file(baseline_path_, error)) {
      throw Error(ErrorKind::bad_input,
                  "there is no baseline " + baseline_path_ +
                      ". Make it with the same command and --update, and keep it with the "
                      "code.");
    }
    return read_baseline(read_text(baseline_path_), baseline_path_);
  }

  std::vector<GateSubject> subjects() const {
    std::vector<std::string> metrics =
        metrics_.empty() ? std::vector<std::string>{"allocated", "reserved"} : metrics_;
    std::vector<GateSubject> result;
    for (const std::string& phase : phases_) {
      for (const std::string& metric : metrics) result.push_back({GateSubject::Scope::phase, phase, metric});
    }
    for (const std::string& category : categories_)
      result.push_back({GateSubject::Scope::category, category, "allocated"});
    if (!result.empty()) return result;
    for (const std::string& metric : metrics) result.push_back({GateSubject::Scope::run, "", metric});
    return result;
  }

  Outcome run_model() {
    Job job;
    job.name = options_.model;
    job.request = make_request(options_, "profile", common.log_level);
    job.device = choose_device(options_.device);
    Runner runner("gate", common, 1);
    return outcome_of("", std::move(runner.run({job}).front()));
  }

  std::string program_text() const {
    std::string text;
    for (const std::string& argument : program) text += (text.empty() ? "" : " ") + argument;
    return text;
  }

  // The highest of its processes and devices.
  Outcome run_program() {
    DeviceChoice device = choose_device(options_.device);
    ProgramRun ran(program, device, 0, options_.device != "auto" && options_.device != "cuda");
    std::cerr << processes_text(ran.state()) << std::flush;
    if (ran.interrupted()) throw Error(ErrorKind::interrupted, "interrupted");
    if (ran.exit_code() != 0) {
      throw Error(ErrorKind::model_failed, "the program ended with code " + std::to_string(ran.exit_code()) +
                                               ", so what it needed is not what it needs");
    }
    Outcome outcome;
    for (const json& process : processes_json(ran.state())) {
      if (!process.at("measured").get<bool>()) {
        throw Error(ErrorKind::model_failed, process.at("command").get<std::string>() +
                                                 " used the device, but its peaks are not measured");
      }
      for (const json& used : process.at("devices")) {
        Peak peak = outcome.peak.value_or(Peak{});
        peak.allocated = std::max(peak.allocated, used.at("peak_allocated_bytes").get<uint64_t>());
        peak.reserved = std::max(peak.reserved.value_or(0), used.at("peak_reserved_bytes").get<uint64_t>());
        outcome.peak = peak;
      }
    }
    if (!outcome.peak) throw Error(ErrorKind::model_failed, "the program never allocated on a CUDA device");
    json torch = json::parse(read_text(torch_json_path()), nullptr, /*allow_exceptions=*/false);
    json& facts = outcome.run.facts;
    facts["arguments"] = {{"program", program}};
    facts["software"] = {{"torch", torch.is_object() ? torch.value("version", json()) : json()}};
    facts["device"] = {{"kind", "virtual"}, {"profile", device.profile_id}};
    if (device.kind == DeviceChoice::Kind::cuda)
      facts["device"] = {{"kind", "cuda"}, {"index", device.index}};
    return outcome;
  }

  ExitCode say_run_error(const Outcome& outcome) const {
    if (!common.json.empty()) write_json_output(common.json, failure_document(*outcome.run.error));
    say_error(outcome.run, "");
    return exit_code_of(outcome.run.error->kind);
  }

  ExitCode give(const GateReport& report) const {
    if (!common.json.empty()) write_json_output(common.json, gate_json(report));
    if (!junit_.empty()) write_output("--junit", junit_, gate_junit(report));
    if (!markdown_.empty()) write_output("--markdown", markdown_, gate_markdown(report));
    if (common.json != "-") {
      std::string text = report.checks.empty() ? "" : gate_text(report);
      if (update_) text += wrap("wrote the baseline " + baseline_path_, 0);
      write_stdout(text);
    }
    const char* github = std::getenv("GITHUB_ACTIONS");
    if (github && std::string(github) == "true") std::cerr << gate_annotations(report) << std::flush;
    return report.passed() ? ExitCode::yes : ExitCode::no;
  }

  ModelOptions options_;
  std::string baseline_path_;
  std::string tolerance_;
  std::string budget_;
  std::vector<std::string> metrics_;
  std::vector<std::string> phases_;
  std::vector<std::string> categories_;
  bool update_ = false;
  std::string junit_;
  std::string markdown_;
};

}  // namespace

std::unique_ptr<Command> make_gate_command() { return std::make_unique<GateCommand>(); }

}  // namespace torchmem::cli
