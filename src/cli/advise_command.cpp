#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "launch/engine_info.h"
#include "launch/runner.h"
#include "request/sizes.h"
#include "run/phase_json.h"
#include "study/advise_study.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Every lever that applies is run and measured, and the best ones in pairs and together too.\n"
    "--limit SIZE asks for the cheapest set of levers with which the allocator never reserves more. From "
    "cheap "
    "to dear: nothing, allocator settings, code that computes the same, time, numbers that differ, another "
    "training.\n"
    "Exit codes: 0 done; 1 no set of levers reaches the limit; 2 no answer; 3 this machine cannot run it; "
    "130 "
    "interrupted.";

class AdviseCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL", options_.model, "A TorchScript file")->required();
    add_running_options(app, options_);
    add_jobs_option(app, jobs_);
    add_html_option(app, html_, "The same as a page for any browser");
    add_markdown_option(app, markdown_);
    app.footer(footer);
  }

  ExitCode run() override {
    check_outputs({{"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}},
                  input_files(options_));
    outputs_checked = true;
    Job base{"as it is", make_request(options_, "profile", common.log_level), choose_device(options_.device)};
    std::optional<uint64_t> goal;
    std::swap(goal, base.request.limit_bytes);  // the base run is without it
    check_sized(base.request);
    // One for all runs, so that PyTorch is loaded once and no interruption is lost.
    Runner runner("advise", common.quiet, jobs_);
    const AdviseAnswer answer = run_advise(base, goal, runner);
    json document = advice_json(answer.advice, answer.base);
    if (answer.has_failed()) {
      if (!common.json.empty()) write_json_output(common.json, document);
      say_error(answer.base, "");
      return exit_code_of(answer.base.error->kind);
    }
    const Error interruption(ErrorKind::interrupted,
                             "interrupted: what was measured before is reported, the rest is missing");
    if (answer.is_interrupted) document["error"] = error_to_json(run_error(interruption));
    result_written = true;
    write_results({{{"--html", html_}, [&] { return advice_html(answer.advice, answer.base); }},
                   {{"--json", common.json}, [&] { return json_text(document); }},
                   {{"--markdown", markdown_}, [&] { return advice_markdown(answer.advice, answer.base); }}},
                  [&] { return advice_text(answer.advice, answer.base, output_style()); });
    if (answer.is_interrupted) throw interruption;
    const std::optional<Goal>& sought = answer.advice.goal;
    return sought && !sought->cheapest ? ExitCode::no : ExitCode::yes;
  }

  json error_document(const Error& error) const override {
    return {{"schema", "torchmem.advise/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"levers", json::array()},
            {"error", error_to_json(run_error(error))}};
  }

 private:
  ModelOptions options_;
  std::string html_;
  std::string markdown_;
  size_t jobs_ = 0;
};

}  // namespace

std::unique_ptr<Command> make_advise_command() { return std::make_unique<AdviseCommand>(); }

}  // namespace torchmem
