#include <charconv>
#include <filesystem>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "launch/engine_info.h"
#include "launch/engine_process.h"
#include "request/model_file.h"
#include "torchmem/report.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "For a model: signature, parameters, buffers, constants, devices and operators in the file, and what is "
    "missing.\n"
    "For a run file or a PyTorch memory snapshot: peak and end, and whose the memory is, at the peak and at "
    "any moment.";

class InspectCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", options_.model,
                   "A TorchScript file, a run file (profile --save), or a memory snapshot")
        ->required();
    add_opening_options(app, options_);
    CLI::Option* device = app.get_option("--device");
    device->description(device->get_description() +
                        "; for a run file or snapshot, the number of the one device to show");
    add_html_option(app, html_, "A page that shows the run, in any browser and without a network");
    add_report_options(app, report_);
    app.footer(footer);
  }

  ExitCode run() override {
    check_report_options(report_);
    check_outputs({{"--html", html_}, {"--markdown", report_.markdown}, {"--json", common.json}},
                  input_files(options_));
    outputs_checked = true;
    if (std::error_code error; !std::filesystem::exists(options_.model, error)) {
      throw Error(
          ErrorKind::bad_model,
          options_.model + " does not exist. Expected a TorchScript file, a run file or a memory snapshot.");
    }
    if (kind_of_file(options_.model) == FileKind::pickle) return inspect_snapshot();
    return inspect_model();
  }

  json error_document(const Error& error) const override {
    Run run;
    run.info.model.path = options_.model;
    run.error = run_error(error);
    return model_json(run);
  }

 private:
  ExitCode inspect_snapshot() {
    std::optional<int32_t> device = device_asked();
    Run run = read_run_file(options_.model);
    const std::string& name = options_.model;
    std::list<Analysis> devices = analyse_devices(run, report_.points, device);
    result_written = true;
    write_results({{{"--html", html_}, [&] { return html_report(run, name, device); }},
                   {{"--json", common.json},
                    [&] { return json_text(snapshot_json(run, name, devices, most_blocks(report_))); }},
                   {{"--markdown", report_.markdown},
                    [&] { return snapshot_markdown(run, name, devices, markdown_top(report_)); }}},
                  [&] { return snapshot_text(run, name, devices, text_style(report_)); });
    return ExitCode::yes;
  }

  // The number in --device; nothing where none was given.
  std::optional<int32_t> device_asked() const {
    const std::string& text = options_.device;
    if (text == ModelOptions().device) return std::nullopt;
    int32_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
    throw Error(ErrorKind::bad_usage, "--device " + text + ": " + options_.model +
                                          " is a run, whose devices are named by their numbers. Expected a "
                                          "whole number from 0 on, such as 1.");
  }

  // A model has no moments and no peak.
  void refuse_report_options() const {
    const char* given = !report_.points.empty()     ? "--at"
                        : report_.has_top           ? "--top"
                        : !report_.markdown.empty() ? "--markdown"
                                                    : nullptr;
    if (!given) return;
    throw Error(ErrorKind::bad_usage, std::string(given) + ": " + options_.model +
                                          " is a model, which has no run to report on. Expected a run file "
                                          "(profile --save) or a memory snapshot; or use torchmem profile.");
  }

  ExitCode inspect_model() {
    if (!html_.empty()) {
      throw Error(ErrorKind::bad_usage, "--html " + html_ + ": " + options_.model +
                                            " is a model, and the page shows runs. Expected a run file or a "
                                            "memory snapshot; or use torchmem profile --html.");
    }
    refuse_report_options();
    RunRequest request = make_request(options_, "inspect", common.log_level);
    DeviceChoice device = choose_device(options_.device);
    Run run = run_engine(request, device);
    result_written = true;
    auto text = [&] { return model_text(run, text_style(report_)); };
    write_results({{{"--json", common.json}, [&] { return json_text(model_json(run)); }}},
                  run.error ? std::function<std::string()>() : text);
    if (run.error) {
      say_error(run, "");
      return exit_code_of(run.error->kind);
    }
    return ExitCode::yes;
  }

  ModelOptions options_;
  std::string html_;
  ReportOptions report_;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace torchmem
