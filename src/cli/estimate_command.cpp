#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/terminal.h"
#include "launch/engine_info.h"
#include "launch/engine_process.h"
#include "report/estimate_report.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem estimate --params 7B --dtype bf16 --master --shards 8\n"
    "  torchmem estimate --params 1e8 --params 1e9 --params 1e10 --optimizer adam\n"
    "  torchmem estimate model.pt --mode inference\n"
    "This is arithmetic, without a run: activations, workspaces and the context are not included.\n"
    "Exit codes: 0 done; 2 no answer; 3 this machine cannot run it.";

class EstimateCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    const char* group = "Estimate";
    app.add_option("MODEL", options_.model, "A TorchScript file, or --params in its place");
    app.add_option("--params", params_, "A number of parameters, e.g. 7B, 350M, 1e9; may be repeated")
        ->option_text("N")
        ->allow_extra_args(false)
        ->group(group);
    app.add_option("--mode", mode_, "train or inference")
        ->option_text("MODE (default train)")
        ->check(CLI::IsMember({"train", "inference"}))
        ->group(group);
    app.add_option("--optimizer", estimate_.optimizer, "sgd, momentum, adam, adamw, rmsprop, adagrad")
        ->option_text("NAME (default adamw)")
        ->group(group);
    app.add_option("--dtype", estimate_.dtype, "The weights' type: f32, bf16, f16, f64")
        ->option_text("DTYPE (default: the model's own; f32 for --params)")
        ->check(CLI::IsMember({"f32", "bf16", "f16", "f64"}))
        ->group(group);
    app.add_flag("--master", estimate_.master,
                 "f32 master weights beside smaller ones, with f32 optimizer state")
        ->group(group);
    app.add_option("--shards", estimate_.shards, "Devices that share the state: ZeRO stages 1 to 3")
        ->option_text("N (default 1)")
        ->check(CLI::Range(1, 1'000'000))
        ->group(group);
    add_opening_options(app, options_);
    add_html_option(app, html_, "The same as a page for any browser");
    add_markdown_option(app, markdown_);
    app.footer(footer);
  }

  ExitCode run() override {
    check_outputs({{"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}},
                  input_files(options_));
    outputs_checked = true;
    if (options_.model.empty() == params_.empty())
      throw Error(ErrorKind::bad_usage, "expected either a MODEL, or --params N");
    estimate_.training = mode_ == "train";
    std::vector<Estimate> estimates;
    for (const std::string& text : params_) {
      uint64_t count = parse_parameters(text, "--params");
      estimates.push_back(make_estimate(text, {{"f32", count, count}}, 0, estimate_));
    }
    if (!options_.model.empty()) {
      Run run =
          run_engine(make_request(options_, "inspect", common.log_level), choose_device(options_.device));
      if (run.error) {
        if (!common.json.empty()) write_json_output(common.json, document_of(*run.error));
        say_error(run, "");
        return exit_code_of(run.error->kind);
      }
      const json model = info_json(run.info).value("model", json::object());
      uint64_t buffers = model.value(json::json_pointer("/buffers/bytes"), uint64_t{0});
      estimates.push_back(make_estimate(options_.model, parameters_of(model), buffers, estimate_));
    }
    result_written = true;
    write_results({{{"--html", html_}, [&] { return estimate_html(estimates, estimate_); }},
                   {{"--json", common.json}, [&] { return json_text(estimate_json(estimates, estimate_)); }},
                   {{"--markdown", markdown_}, [&] { return estimate_markdown(estimates, estimate_); }}},
                  [&] { return estimate_text(estimates, estimate_, output_style()); });
    return ExitCode::yes;
  }

  json error_document(const Error& error) const override { return document_of(run_error(error)); }

 private:
  static json document_of(const RunError& error) {
    return {{"schema", "torchmem.estimate/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"estimates", json::array()},
            {"error", error_to_json(error)}};
  }

  ModelOptions options_;
  EstimateOptions estimate_;
  std::vector<std::string> params_;
  std::string mode_ = "train";
  std::string html_;
  std::string markdown_;
};

}  // namespace

std::unique_ptr<Command> make_estimate_command() { return std::make_unique<EstimateCommand>(); }

}  // namespace torchmem
