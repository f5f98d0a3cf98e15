#include <iostream>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "launch/engine_info.h"
#include "launch/engine_process.h"
#include "launch/run_progress.h"
#include "report/accuracy.h"
#include "torchmem/allocator_state.h"
#include "torchmem/report.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem profile model.pt --input f32:32x3x224x224\n"
    "  torchmem profile bert.pt --input ids=i64:8x128:below=30000 --optimizer adamw:foreach\n"
    "  torchmem profile model.pt --input f32:1x3x224x224 --mode inference --limit 8GiB --json\n"
    "Exit codes: 0 done; 1 out of memory; 2 no answer; 3 this machine cannot run it; 130 interrupted.";

class ProfileCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("MODEL", options_.model, "A TorchScript file")->required();
    add_running_options(app, options_);
    app.add_option("--save", save_, "Keep the run, as a memory snapshot that memory_viz opens too")
        ->option_text("RUN.pickle")
        ->group("Output");
    app.add_option("--snapshots", options_.snapshots, "One plain PyTorch snapshot for each phase, in DIR")
        ->option_text("DIR")
        ->group("Output");
    add_html_option(app, html_, "A page that shows the run, in any browser and without a network");
    app.add_flag("--summary", summary_,
                 "Print the table of torch.cuda.memory_summary() in place of the report")
        ->group("Output");
    add_report_options(app, report_);
    app.footer(footer);
  }

  ExitCode run() override {
    check_report_options(report_);
    check_outputs(outputs(), input_files(options_));
    outputs_checked = true;
    RunRequest request = make_request(options_, "profile", common.log_level);
    DeviceChoice device = choose_device(options_.device);
    RunProgress progress("running " + options_.model, common.quiet);
    Run run = run_engine(request, device, &progress);
    progress.end();
    add_engine_info(run, request, device);
    if (!save_.empty()) complete_block_sizes(run);
    report(run);
    if (!run.error) return ExitCode::yes;
    const bool is_told = run.error->kind == ErrorKind::out_of_memory && has_text(run) && !summary_;
    say_error(run, save_, is_told);
    return exit_code_of(run.error->kind);
  }

  json error_document(const Error& error) const override {
    Run run;
    run.is_ours = true;
    run.info.model.path = options_.model;
    run.error = run_error(error);
    return profile_json(run);
  }

 private:
  std::vector<OutputPath> outputs() const {
    return {{"--save", save_}, {"--html", html_}, {"--markdown", report_.markdown}, {"--json", common.json}};
  }

  // A run that ended early may lack the moments that were asked for; what there is, is reported all the same.
  std::unique_ptr<Analysis> analyse(const Run& run) const {
    try {
      return std::make_unique<Analysis>(run, run.main_device(), report_.points);
    } catch (const Error& error) {
      if (!run.error || error.kind() != ErrorKind::bad_usage) throw;
      std::cerr << "torchmem: " << error.what() << std::endl;
      return std::make_unique<Analysis>(run, run.main_device());
    }
  }

  // What ran until memory, or the patience with assumed values, was used up is worth a report.
  bool has_text(const Run& run) const {
    const bool has_result = !run.error || run.error->kind == ErrorKind::out_of_memory ||
                            run.error->kind == ErrorKind::assumed_reads;
    return has_result && !take_stdout(outputs());
  }

  void report(const Run& run) {
    std::unique_ptr<Analysis> analysed;
    auto analysis = [&]() -> const Analysis& {
      if (!analysed) analysed = analyse(run);
      result_written = true;
      return *analysed;
    };
    auto text = [&] {
      return summary_ ? memory_summary(run) : profile_text(analysis(), text_style(report_));
    };
    write_results(
        {{{"--save", save_}, [&] { return write_run(run); }},
         {{"--html", html_}, [&] { return html_report(run, options_.model); }},
         {{"--json", common.json}, [&] { return json_text(profile_json(analysis(), most_blocks(report_))); }},
         {{"--markdown", report_.markdown},
          [&] { return profile_markdown(analysis(), markdown_top(report_)); }}},
        has_text(run) ? text : std::function<std::string()>());
    std::string doubt = summary_ && has_text(run) ? doubt_text(run) : "";
    if (!doubt.empty()) std::cerr << "torchmem: " << doubt << std::endl;
  }

  ModelOptions options_;
  ReportOptions report_;
  std::string save_;
  std::string html_;
  bool summary_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace torchmem
