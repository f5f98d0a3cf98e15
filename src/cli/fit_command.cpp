#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "launch/runner.h"
#include "run/phase_json.h"
#include "study/fit_study.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem fit model.pt --input f32:Bx3x224x224 --vary B --limit 24GiB\n"
    "  torchmem fit gpt.pt --input ids=i64:1xS:below=50257 --vary S --mode inference\n"
    "  torchmem fit model.pt --input f32:Bx3x224x224 --devices all\n"
    "A size fits if the whole run does. --limit is what the allocator may reserve, without context and "
    "modules; "
    "a device's memory holds these too.\n"
    "Exit codes: 0 a size fits; 1 none does; 2 no answer, e.g. an assumed value decided a "
    "run; 3 this machine cannot run it; 130 interrupted.";

constexpr uint64_t most_size = uint64_t{1} << 40;

class FitCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    const char* group = "Fit";
    app.add_option("MODEL", options_.model, "A TorchScript file")->required();
    app.add_option("--vary", vary_, "The dimension of --input whose largest size is wanted")
        ->option_text("NAME (default: the only one with a name)")
        ->group(group);
    app.add_option("--min", bounds_.least, "The smallest size")
        ->option_text("N (default 1)")
        ->check(CLI::Range(uint64_t{1}, most_size))
        ->group(group);
    app.add_option("--max", bounds_.most, "The largest size")
        ->option_text("N (default 2^30)")
        ->check(CLI::Range(uint64_t{1}, most_size))
        ->group(group);
    app.add_option("--multiple-of", bounds_.multiple, "Only multiples of N")
        ->option_text("N (default 1)")
        ->check(CLI::Range(uint64_t{1}, most_size))
        ->group(group);
    app.add_option("--check", bounds_.check, "How many sizes above the answer must have been run and not fit")
        ->option_text("N (default: 4 to 12, as allocated memory leaves room)")
        ->check(CLI::Range(uint64_t{1}, most_size))
        ->group(group);
    app.add_flag("--exhaustive", bounds_.exhaustive, "Run every size, from the smallest on")->group(group);
    CLI::Option* devices =
        app.add_option("--devices", devices_, "Several devices in place of --device: all profiles, or these")
            ->option_text("all|NAME,NAME...")
            ->group(group);
    add_jobs_option(app, jobs_);
    app.add_option("--html", html_, "A page with the curve of memory against size")
        ->option_text("FILE.html")
        ->group("Output");
    options_.named_dimensions = true;
    add_running_options(app, options_);
    add_allow_assumed(app, allow_assumed_);
    devices->excludes(app.get_option("--device"));
    app.footer(footer);
  }

  ExitCode run() override {
    check_outputs({{"--html", html_}, {"--json", common.json}}, input_files(options_));
    outputs_checked = true;
    const FitQuestion question = make_question();
    Runner runner("fit", common.quiet, jobs_);
    const FitAnswer answer = run_fit(question, runner);
    json document = fit_json(answer.results);
    const std::optional<Error>& error = answer.failure ? answer.failure : answer.doubt;
    if (error && error->kind() != ErrorKind::interrupted)
      document["error"] = error_to_json(run_error(*error));
    std::function<std::string()> text = [&] { return fit_text(answer.results, output_style()); };
    result_written = true;
    write_results({{{"--html", html_}, [&] { return fit_html(answer.results, options_.model); }},
                   {{"--json", common.json}, [&] { return json_text(document); }}},
                  answer.failure ? nullptr : text);
    if (error) throw *error;
    return answer.found() ? ExitCode::yes : ExitCode::no;
  }

  json error_document(const Error& error) const override {
    return {{"schema", "torchmem.fit/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"results", json::array()},
            {"error", error_to_json(run_error(error))}};
  }

 private:
  FitQuestion make_question() {
    check_bounds(bounds_);
    FitQuestion question;
    question.request = make_request(options_, "profile", common.log_level);
    question.dimension = varied_dimension(question.request, vary_);
    question.bounds = bounds_;
    question.devices = fit_devices(options_.device, devices_);
    question.allow_assumed = allow_assumed_;
    return question;
  }

  ModelOptions options_;
  std::string vary_;
  std::string devices_;
  std::string html_;
  FitBounds bounds_;
  size_t jobs_ = 0;
  bool allow_assumed_ = false;
};

}  // namespace

std::unique_ptr<Command> make_fit_command() { return std::make_unique<FitCommand>(); }

}  // namespace torchmem
