#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/process_report.h"
#include "cli/terminal.h"
#include "launch/engine_facts.h"
#include "launch/layout.h"
#include "launch/program_run.h"
#include "launch/runner.h"
#include "report/fidelity.h"
#include "report/gate_report.h"
#include "report/outcome_report.h"
#include "report/text.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --baseline memory.json --update\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --baseline memory.json --tolerance 1%\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --budget 24GiB --metric device\n"
    "  torchmem gate --baseline train.json --tolerance 16MiB -- python3 train.py --epochs 1\n"
    "With GITHUB_ACTIONS=true, what failed is said as annotations too.\n"
    "Exit codes: 0 passed; 1 failed, or out of memory; 2 could not, e.g. a baseline of another input, or an "
    "assumed value that decided what ran; "
    "3 this machine cannot; 130 interrupted.";

const std::vector<std::string> metric_names = {"allocated", "reserved", "device"};

std::string read_baseline_file(const std::filesystem::path& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  std::string text;
  std::array<char, 65536> buffer;
  while (file) {
    size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get());
    text.append(buffer.data(), count);
    if (count == buffer.size()) continue;
    if (std::ferror(file.get())) break;
    return text;
  }
  throw Error(ErrorKind::bad_input,
              "cannot read the baseline " + path.string() + ": " + std::strerror(errno));
}

bool is_github() {
  const char* github = std::getenv("GITHUB_ACTIONS");
  return github && std::string(github) == "true";
}

class GateCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    const char* group = "Gate";
    app.add_option("MODEL", options_.model, "A TorchScript file; with -- PROGRAM ARGUMENTS..., none");
    app.add_option("--baseline", baseline_path_, "The numbers to compare with, as --update writes them")
        ->option_text("FILE.json")
        ->group(group);
    app.add_option("--tolerance", tolerance_,
                   "How much more than the baseline passes: a percentage or a size")
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
    add_allow_assumed(app, allow_assumed_);
    app.add_option("--junit", junit_, "The result as JUnit's XML; - is standard output")
        ->option_text("FILE")
        ->group("Output");
    app.add_option("--markdown", markdown_, "The result as Markdown; - is standard output")
        ->option_text("FILE")
        ->group("Output");
    app.footer(footer);
  }

  ExitCode run() override {
    try {
      return give(judge());
    } catch (const Error& error) {
      say_nothing_known(error);
      throw;
    } catch (const std::exception& error) {
      say_nothing_known(Error(ErrorKind::internal, error.what()));
      throw;
    }
  }

  json error_document(const Error& error) const override { return gate_json(error_report(error)); }

 private:
  GateReport judge() {
    check_usage();
    Tolerance tolerance = tolerance_.empty() ? Tolerance{} : parse_tolerance(tolerance_, "--tolerance");
    std::optional<uint64_t> budget;
    if (!budget_.empty()) budget = parse_bytes(budget_, "--budget");
    const std::optional<Baseline> baseline = read_old();
    Outcome outcome = program.empty() ? run_model() : run_program();
    GateReport report;
    report.facts = outcome.run.facts;
    report.model = subject_text();
    report.what = where_text(outcome.run);
    if (!program.empty()) report.what = report.model + " on " + report.what;
    if (!baseline_path_.empty() && !update_)
      report.against = baseline_path_ + (tolerance_.empty() ? "" : ", tolerance " + tolerance_);
    if (budget) {
      bool is_bare = budget_.find_first_not_of("0123456789.") == std::string::npos;
      report.against +=
          (report.against.empty() ? "" : ", and ") + ("a budget of " + budget_) + (is_bare ? " B" : "");
    }
    report.fidelity = fidelity_line(outcome.run);
    report.fidelity_details = fidelity_json(outcome.run);
    report.error = outcome.run.error;
    if (report.error) {
      say_error(outcome.run, "");
      bool is_verdict = report.error->kind == ErrorKind::out_of_memory;
      if (is_verdict) doubt(outcome.run, "no verdict: out of memory, but ", report);
      return report;
    }
    const Baseline now = baseline_of(outcome);
    report.numbers = now.numbers;
    if (baseline) report.warnings = compare_baselines(*baseline, now, baseline_path_);
    const GateNumbers* before = baseline ? &baseline->numbers : nullptr;
    report.checks = check_gate(subjects(), now.numbers, before, tolerance, budget);
    explain(outcome, before, report);
    doubt(outcome.run, "no verdict: ", report);
    if (update_ && !report.error) write_new(now, report);
    return report;
  }

  // What there is more of where a check failed.
  static void explain(const Outcome& outcome, const GateNumbers* baseline, GateReport& report) {
    for (const GateCheck& check : report.checks) {
      if (check.passed()) continue;
      bool is_allocated = check.metric == Metric::allocated;
      if (check.baseline && is_allocated) report.growth = find_gate_growth(*report.numbers, *baseline);
      if (check.baseline && !is_allocated)
        report.reserved_growth = find_reserved_growth(*report.numbers, *baseline);
      if (!is_allocated && outcome.reserved_peak) report.segments = outcome.reserved_peak->segments;
    }
  }

  // Where an assumed value decided what ran: there is no verdict, or a warning where that was accepted.
  void doubt(const Run& run, const std::string& start, GateReport& report) const {
    const std::string decided = decision_text(run.findings);
    if (decided.empty()) return;
    if (allow_assumed_) {
      report.warnings.push_back("accepted with --allow-assumed: " + decided);
      return;
    }
    report.error = run_error(decided_error(start, run));
    if (update_) report.error->message += " The baseline was not written.";
    std::cerr << "torchmem: " << report.error->message << std::endl;
  }

  // What was measured is told all the same where it cannot be written.
  void write_new(const Baseline& baseline, GateReport& report) const {
    try {
      write_output("--baseline", baseline_path_, baseline_to_json(baseline).dump(2) + "\n");
      report.written = baseline_path_;
    } catch (const Error& error) {
      std::cerr << "torchmem: " << error.what() << std::endl;
      report.error = error_report(error).error;
    }
  }

  void check_usage() {
    check_files();
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
    check_subjects();
    if (!program.empty()) check_program();
  }

  // First of all: what else is wrong then goes where it is looked for.
  void check_files() {
    const std::vector<OutputPath> outputs = {{"--baseline", update_ ? baseline_path_ : ""},
                                             {"--json", common.json},
                                             {"--junit", junit_},
                                             {"--markdown", markdown_}};
    std::string first;
    for (const OutputPath& output : outputs) {
      if (output.path != "-" || output.option == "--baseline") continue;
      if (!first.empty()) {
        throw Error(ErrorKind::bad_usage, first + " and " + output.option +
                                              ": both would go to standard output; give one of them a file");
      }
      first = output.option;
    }
    check_outputs(outputs, input_paths());
    outputs_checked = true;
  }

  std::vector<std::string> input_paths() const {
    std::vector<std::string> inputs = input_files(options_);
    if (!update_) inputs.push_back(baseline_path_);
    return inputs;
  }

  void check_subjects() const {
    if (categories_.empty() || !phases_.empty()) return;
    for (const std::string& metric : metrics_) {
      if (metric == "allocated") continue;
      throw Error(ErrorKind::bad_usage, "--metric " + metric +
                                            ": of a --category only allocated bytes are counted; leave one "
                                            "of the two out");
    }
  }

  void check_program() const {
    if (!(phases_.empty() && categories_.empty())) {
      throw Error(ErrorKind::bad_usage,
                  "--phase and --category are for a model: of a program only the peaks of "
                  "its processes are known");
    }
    if (std::find(metrics_.begin(), metrics_.end(), "device") != metrics_.end())
      throw Error(ErrorKind::bad_usage,
                  "--metric device is for a model: a program's context is not measured");
    for (const CLI::Option* option : app_->get_options()) {
      const std::string& group = option->get_group();
      const std::string name = option->get_name();
      bool is_models = group == "Model" || group == "Inputs" || group == "Run";
      if (option->count() == 0 || !is_models || name == "--device") continue;
      throw Error(
          ErrorKind::bad_usage,
          name + (name == "--alloc-conf" ? " is for a model; a program has it from PYTORCH_CUDA_ALLOC_CONF"
                                         : " is for a model; a program has its own"));
    }
  }

  // Before the run, so that a bad baseline costs no time. Nothing: none is needed.
  std::optional<Baseline> read_old() const {
    if (baseline_path_.empty() || update_) return std::nullopt;
    std::error_code error;
    std::filesystem::file_status status = std::filesystem::status(baseline_path_, error);
    if (status.type() == std::filesystem::file_type::not_found) {
      throw Error(ErrorKind::bad_input,
                  "there is no baseline " + baseline_path_ +
                      ". Make it with the same command and --update, and keep it with the "
                      "code.");
    }
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      throw Error(ErrorKind::bad_input,
                  "the baseline " + baseline_path_ + " is a " +
                      (std::filesystem::is_directory(status) ? "directory" : "pipe or a device") +
                      "; a file was expected, as --update writes it");
    }
    return read_baseline(read_baseline_file(baseline_path_), baseline_path_);
  }

  std::vector<GateSubject> subjects() const {
    std::vector<Metric> metrics;
    for (const std::string& name : metrics_) metrics.push_back(*metric_from(name));
    if (metrics.empty()) metrics = {Metric::allocated, Metric::reserved};
    std::vector<GateSubject> result;
    auto add = [&](GateSubject::Scope scope, const std::string& name, Metric metric) {
      bool is_there = std::any_of(result.begin(), result.end(), [&](const GateSubject& subject) {
        return subject.scope == scope && subject.name == name && subject.metric == metric;
      });
      if (!is_there) result.push_back({scope, name, metric});
    };
    for (const std::string& phase : phases_) {
      for (Metric metric : metrics) add(GateSubject::Scope::phase, phase, metric);
    }
    for (const std::string& category : categories_)
      add(GateSubject::Scope::category, category, Metric::allocated);
    if (!result.empty()) return result;
    for (Metric metric : metrics) add(GateSubject::Scope::run, "", metric);
    return result;
  }

  Outcome run_model() {
    Job job;
    job.name = options_.model;
    job.request = make_request(options_, "profile", common.log_level);
    job.device = choose_device(options_.device);
    Runner runner("gate", common.quiet, 1);
    Run run = runner.run_one(job);
    std::optional<ReservedPeak> reserved_peak = reserved_peak_of(run);
    Outcome outcome = outcome_of("", std::move(run));
    outcome.reserved_peak = std::move(reserved_peak);
    return outcome;
  }

  // The model or the program.
  std::string subject_text() const {
    if (program.empty()) return options_.model;
    std::string text;
    for (const std::string& argument : program) text += (text.empty() ? "" : " ") + argument;
    return text;
  }

  // The highest of its processes and devices.
  Outcome run_program() {
    DeviceChoice device = choose_device(options_.device);
    const ValueSettings values = value_settings(options_.values);
    ProgramRun ran(program, device,
                   {0, options_.device != "auto" && options_.device != "cuda", false, values});
    std::cerr << processes_text(ran.state(), ran.is_virtual()) << std::flush;
    if (ran.interrupted()) throw Error(ErrorKind::interrupted, "interrupted");
    const json processes = processes_json(ran.state());
    for (const EndedProcess& ended : ended_processes(ran.state()))
      throw Error(ErrorKind::assumed_reads, "the program was ended: " + ended.reason);
    if (ran.exit_code() != 0) {
      throw Error(ErrorKind::model_failed, "the program ended with code " + std::to_string(ran.exit_code()) +
                                               ran_out_text(processes) +
                                               ", so what it needed is not what it needs");
    }
    Outcome outcome;
    for (const json& process : processes) {
      const std::string command = process.at("command").get<std::string>();
      if (!process.at("measured").get<bool>()) {
        throw Error(ErrorKind::model_failed, command + " used the device, but its peaks are not measured");
      }
      for (const json& used : process.at("devices")) {
        Peak peak = outcome.peak.value_or(Peak{});
        peak.allocated = std::max(peak.allocated, used.at("peak_allocated_bytes").get<uint64_t>());
        peak.reserved = std::max(peak.reserved.value_or(0), used.at("peak_reserved_bytes").get<uint64_t>());
        outcome.peak = peak;
      }
    }
    outcome.run.findings = program_findings(ran.state());
    if (!outcome.peak) throw Error(ErrorKind::model_failed, "the program never allocated on a CUDA device");
    std::ifstream in(torch_json_path());
    json torch = json::parse(in, nullptr, /*allow_exceptions=*/false);
    json& facts = outcome.run.facts;
    facts["arguments"] = {{"program", program},
                          {"values", values.values ? json(*values.values) : json()},
                          {"assume", values.assume ? json(*values.assume) : json()}};
    facts["software"] = {{"torch", torch.is_object() ? torch.value("version", json()) : json()}};
    add_device_facts(outcome.run, device);
    return outcome;
  }

  // A program may also have caught it and ended for another reason: a hint, no verdict.
  static std::string ran_out_text(const json& processes) {
    uint64_t count = 0;
    for (const json& process : processes) {
      for (const json& used : process.at("devices")) count += used.value("out_of_memory", uint64_t{0});
    }
    return count == 0 ? "" : " after " + counted(count, "out-of-memory error");
  }

  GateReport error_report(const Error& error) const {
    GateReport report;
    report.what = report.model = subject_text();
    report.error = run_error(error);
    return report;
  }

  // In place of a result: no older one may be taken for it. The caller writes the JSON.
  void say_nothing_known(const Error& error) const { write_documents(error_report(error), false); }

  ExitCode give(const GateReport& report) const {
    if (!write_documents(report, true)) return ExitCode::could_not;
    if (report.error) return exit_code_of(report.error->kind);
    return report.verdict() == GateVerdict::passed ? ExitCode::yes : ExitCode::no;
  }

  // Files before standard output, whose reader may close it. What cannot be written is said, and takes
  // nothing from the rest; false then.
  bool write_documents(const GateReport& report, bool is_result) const {
    bool all = true;
    auto attempt = [&](const std::function<void()>& write) {
      try {
        write();
      } catch (const Error& error) {
        std::cerr << "torchmem: " << error.what() << std::endl;
        all = false;
      }
    };
    for (bool to_stdout : {false, true}) {
      auto is_due = [&](const OutputPath& output) {
        return !output.path.empty() && (output.path == "-") == to_stdout && may_write(output);
      };
      auto put = [&](const OutputPath& output, const std::string& text) {
        if (is_due(output))
          attempt([&] { to_stdout ? write_stdout(text) : write_output(output.option, output.path, text); });
      };
      if (is_result && is_due({"--json", common.json}))
        attempt([&] { write_json_output(common.json, gate_json(report)); });
      put({"--junit", junit_}, gate_junit(report));
      put({"--markdown", markdown_}, gate_markdown(report));
      if (!to_stdout && is_github()) std::cerr << gate_annotations(report) << std::flush;
    }
    // An error alone is said on standard error.
    bool has_text = report.verdict() != GateVerdict::error || report.numbers;
    bool is_taken = common.json == "-" || junit_ == "-" || markdown_ == "-";
    if (is_result && has_text && !is_taken) attempt([&] { write_stdout(gate_text(report, output_style())); });
    return all;
  }

  // Where the outputs were refused, those of them that were not at fault can still be written.
  bool may_write(const OutputPath& output) const {
    if (outputs_checked) return true;
    std::vector<std::string> others = input_paths();
    others.push_back(baseline_path_);
    for (const OutputPath& other :
         {OutputPath{"--json", common.json}, {"--junit", junit_}, {"--markdown", markdown_}}) {
      if (other.option != output.option) others.push_back(other.path);
    }
    try {
      check_outputs({output}, others);
      return output.path != "-" || std::find(others.begin(), others.end(), "-") == others.end();
    } catch (const Error&) {
      return false;
    }
  }

  const CLI::App* app_ = nullptr;
  ModelOptions options_;
  std::string baseline_path_;
  std::string tolerance_;
  std::string budget_;
  std::vector<std::string> metrics_;
  std::vector<std::string> phases_;
  std::vector<std::string> categories_;
  bool update_ = false;
  bool allow_assumed_ = false;
  std::string junit_;
  std::string markdown_;
};

}  // namespace

std::unique_ptr<Command> make_gate_command() { return std::make_unique<GateCommand>(); }

}  // namespace torchmem
