#include <algorithm>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "launch/runner.h"
#include "report/comparison.h"
#include "run/phase_json.h"
#include "study/compare_study.h"
#include "study/variants.h"

namespace torchmem {

using nlohmann::json;

namespace {

class CompareCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL", options_.model, "A TorchScript file")->required();
    app.add_option("--variant", variants_,
                   "A change to the options (listed below), or several joined by '+'; may be repeated")
        ->option_text("VARIANT")
        ->allow_extra_args(false)
        ->group("Compare");
    add_jobs_option(app, jobs_);
    options_.named_dimensions = true;
    add_running_options(app, options_);
    add_markdown_option(app, markdown_);
    add_html_option(app, html_, "The table as a page for any browser");
    app.footer("Variants:\n" + variant_help() +
               "Example:\n"
               "  torchmem compare model.pt --input f32:32x3x224x224 --variant train --variant "
               "train+autocast=bf16\n"
               "Exit codes: 0 every variant ran; 1 one ran out of memory; 2 one failed; 3 this "
               "machine cannot run one; 130 interrupted.");
  }

  ExitCode run() override {
    check_outputs({{"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}},
                  input_files(options_));
    outputs_checked = true;
    if (variants_.empty()) {
      throw Error(ErrorKind::bad_usage,
                  "nothing to compare. Expected --variant once for each variant, e.g. --variant no_grad "
                  "--variant grad "
                  "(torchmem compare --help lists them).");
    }
    Job base;
    base.request = make_request(options_, "profile", common.log_level);
    base.device = choose_device(options_.device);
    const std::vector<RunResult> outcomes = run_all(variant_jobs(base, variants_));
    result_written = true;
    write_results({{{"--markdown", markdown_}, [&] { return comparison_markdown(outcomes); }},
                   {{"--html", html_}, [&] { return comparison_html(outcomes); }},
                   {{"--json", common.json}, [&] { return json_text(comparison_json(outcomes)); }}},
                  [&] { return comparison_text(outcomes, output_style()); });
    ExitCode code = ExitCode::yes;
    for (const RunResult& outcome : outcomes) {
      if (outcome.run.error) code = std::max(code, exit_code_of(outcome.run.error->kind));
    }
    return code;
  }

  json error_document(const Error& error) const override {
    return {{"schema", "torchmem.compare/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"variants", json::array()},
            {"error", error_to_json(run_error(error))}};
  }

 private:
  std::vector<RunResult> run_all(const std::vector<Job>& jobs) const {
    Runner runner("compare", common.quiet, jobs_);
    return compare(runner, jobs);
  }

  ModelOptions options_;
  std::vector<std::string> variants_;
  std::string markdown_;
  std::string html_;
  size_t jobs_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_compare_command() { return std::make_unique<CompareCommand>(); }

}  // namespace torchmem
