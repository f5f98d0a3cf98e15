#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "launch/engine_facts.h"
#include "launch/runner.h"
#include "launch/temporary_directory.h"
#include "report/fit_report.h"
#include "report/outcome_report.h"
#include "request/sizes.h"
#include "request/spec.h"
#include "run/file.h"
#include "run/phase_json.h"
#include "torchmem/bytes.h"
#include "torchmem/fit_search.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem fit model.pt --input f32:Bx3x224x224 --vary B --limit 24GiB\n"
    "  torchmem fit gpt.pt --input ids=i64:1xS:below=50257 --vary S --mode inference\n"
    "  torchmem fit model.pt --input f32:Bx3x224x224 --devices all\n"
    "A size fits when all of the run does. --limit is what the allocator may reserve, context and modules "
    "excluded; "
    "a device's memory includes them.\n"
    "Exit codes: 0 a size fits; 1 none does; 2 could not, e.g. an assumed value decided a "
    "run; 3 this machine cannot; 130 interrupted.";

constexpr uint64_t most_size = uint64_t{1} << 40;

// More than any run takes, and half of the virtual device's address space.
constexpr uint64_t memory_enough = uint64_t{1} << 43;

// One device's search and what came of it.
struct Search {
  Job base;
  FitSearch search;
  FitResult result;
};

class FitCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    const char* group = "Fit";
    app.add_option("MODEL", options_.model, "A TorchScript file")->required();
    app.add_option("--vary", vary_, "The dimension of --input whose largest size is wanted")
        ->option_text("NAME (default: the only one that is a name)")
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
    app.add_option("--check", check_, "How many sizes above the answer must have been run without fitting")
        ->option_text("N (default 4 to 12, by what allocated memory leaves room for)")
        ->check(CLI::Range(uint64_t{1}, most_size))
        ->group(group);
    app.add_flag("--exhaustive", bounds_.exhaustive, "Run every size, from the smallest on")->group(group);
    CLI::Option* devices =
        app.add_option("--devices", devices_, "Several devices in place of --device: all profiles, or names")
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
    prepare();
    Runner runner("fit", common.quiet, jobs_);
    while (!runner.interrupted() && run_round(runner)) {
    }
    bool interrupted = runner.interrupted();
    if (!interrupted) find_needs(runner);
    std::vector<FitResult> results;
    for (Search& search : searches_) results.push_back(finish(search));
    std::optional<Error> failure = failure_of(results);
    if (interrupted) failure = Error(ErrorKind::interrupted, interrupted_text(results.front()));
    json document = fit_json(results);
    std::optional<Error> doubt;
    if (!failure) doubt = doubt_of(results);
    if (doubt) document["error"] = error_to_json(run_error(*doubt));
    if (failure && !interrupted) document["error"] = error_to_json(run_error(*failure));
    result_written = true;
    write_all({[&] {
                 if (!common.json.empty() && common.json != "-") write_json_output(common.json, document);
               },
               [&] {
                 if (!html_.empty()) write_output("--html", html_, fit_html(results, options_.model));
               },
               [&] {
                 if (common.json == "-")
                   write_json_output("-", document);
                 else if (!failure)
                   write_stdout(fit_text(results, output_style()));
               }});
    if (failure) throw *failure;
    if (doubt) throw *doubt;
    bool some = std::any_of(results.begin(), results.end(),
                            [](const FitResult& result) { return result.largest.has_value(); });
    return some ? ExitCode::yes : ExitCode::no;
  }

  json error_document(const Error& error) const override {
    return {{"schema", "torchmem.fit/1"},
            {"torchmem", TORCHMEM_VERSION},
            {"results", json::array()},
            {"error", error_to_json(run_error(error))}};
  }

 private:
  // The name of the dimension that varies; every other one must have its size.
  std::string dimension(const RunRequest& request) const {
    std::vector<std::string> names = open_dimensions(request);
    if (names.empty()) {
      throw Error(ErrorKind::bad_usage,
                  "no dimension of the inputs varies. Write a name in capital letters where it is, e.g. "
                  "--input f32:Bx3x224x224 --vary B");
    }
    std::string wanted = vary_.empty() ? names.front() : vary_;
    if (std::find(names.begin(), names.end(), wanted) == names.end()) {
      throw Error(ErrorKind::bad_usage, "--vary " + vary_ + ": no input has a dimension of that name");
    }
    for (const std::string& name : names) {
      if (name == wanted) continue;
      if (vary_.empty()) {
        throw Error(ErrorKind::bad_usage, "the inputs have several dimensions without a size, " + names[0] +
                                              " and " + name +
                                              "; --vary names the one that varies, and "
                                              "the others need a number");
      }
      throw Error(ErrorKind::bad_usage,
                  "--vary " + vary_ + ": dimension " + name + " of the inputs has no size; write a number");
    }
    return wanted;
  }

  void prepare() {
    if (bounds_.least > bounds_.most) {
      throw Error(ErrorKind::bad_usage, "--min " + std::to_string(bounds_.least) + " is more than --max " +
                                            std::to_string(bounds_.most));
    }
    if (bounds_.most / bounds_.multiple < (bounds_.least + bounds_.multiple - 1) / bounds_.multiple) {
      throw Error(ErrorKind::bad_usage, "there is no multiple of " + std::to_string(bounds_.multiple) +
                                            " from " + std::to_string(bounds_.least) + " to " +
                                            std::to_string(bounds_.most));
    }
    if (check_ > 0) bounds_.check = check_;
    RunRequest request = make_request(options_, "profile", common.log_level);
    request.recording = Recording::off;  // peaks are enough, and each run is quicker
    std::string name = dimension(request);
    std::optional<uint64_t> limit = request.limit_bytes;
    for (const auto& [text, device] : chosen_devices()) {
      Job base;
      base.request = request;
      base.device = device;
      Search search{std::move(base), FitSearch(bounds_, limit.value_or(0)), {}};
      search.result.device = text;
      search.result.dimension = name;
      search.result.least = (bounds_.least + bounds_.multiple - 1) / bounds_.multiple * bounds_.multiple;
      search.result.multiple = bounds_.multiple;
      search.result.limit = limit;
      searches_.push_back(std::move(search));
    }
  }

  std::vector<std::pair<std::string, DeviceChoice>> chosen_devices() const {
    std::vector<std::pair<std::string, DeviceChoice>> chosen;
    if (devices_.empty()) {
      DeviceChoice device = choose_device(options_.device);
      std::string text = device.kind == DeviceChoice::Kind::cuda ? "cuda:" + std::to_string(device.index)
                                                                 : "virtual:" + device.profile_id;
      chosen.emplace_back(text, device);
      return chosen;
    }
    std::vector<std::string> names;
    if (devices_ == "all") {
      for (const json& profile : device_profiles()) names.push_back(profile.at("id").get<std::string>());
    } else {
      for (size_t start = 0; start <= devices_.size();) {
        size_t end = std::min(devices_.find(',', start), devices_.size());
        names.push_back(devices_.substr(start, end - start));
        start = end + 1;
      }
    }
    for (const std::string& name : names) {
      if (std::count(names.begin(), names.end(), name) > 1)
        throw Error(ErrorKind::bad_usage, "--devices " + devices_ + ": " + name + " is named twice");
      std::string text = name.find(':') == std::string::npos ? "virtual:" + name : name;
      chosen.emplace_back(name, choose_device(text));
    }
    return chosen;
  }

  Job job_of(const Search& search, uint64_t size) const {
    Job job = search.base;
    job.name = search.result.dimension + " = " + std::to_string(size);
    if (searches_.size() > 1) job.name = search.result.device + ", " + job.name;
    set_dimension(job.request.inputs, search.result.dimension, size);
    return job;
  }

  // Runs the sizes that the searches want next; false when they are over.
  bool run_round(Runner& runner) {
    std::vector<Job> jobs;
    std::vector<std::pair<size_t, uint64_t>> what;  // search and size
    for (size_t i = 0; i < searches_.size(); ++i) {
      for (uint64_t size : searches_[i].search.next()) {
        jobs.push_back(job_of(searches_[i], size));
        what.emplace_back(i, size);
      }
    }
    if (jobs.empty()) return false;
    runner.run(jobs, [&](size_t index, Run run) {
      auto [search, size] = what[index];
      take(searches_[search], size, std::move(run));
    });
    return true;
  }

  void take(Search& search, uint64_t size, Run run) {
    if (run.error && run.error->kind == ErrorKind::interrupted) return;
    if (run.error && run.error->kind == ErrorKind::unavailable)
      throw Error(ErrorKind::unavailable, run.error->message);
    json total = run.facts.value(json::json_pointer("/device/total_bytes"), json());
    if (total.is_number_unsigned()) search.result.capacity = total.get<uint64_t>();
    Outcome outcome = outcome_of(std::to_string(size), std::move(run));
    bool fits = !outcome.run.error;
    search.search.add(size, fits, outcome.peak ? outcome.peak->reserved.value_or(0) : 0,
                      outcome.peak ? outcome.peak->allocated : 0);
    search.result.trials.push_back({size, std::move(outcome)});
    if (auto bytes = reservable(search.result)) search.search.set_capacity(*bytes);
  }

  // Where none fits: what the smallest would need.
  void find_needs(Runner& runner) {
    std::vector<Job> jobs;
    std::vector<Search*> whose;
    for (Search& search : searches_) {
      if (search.search.largest() || !ran_out(search)) continue;
      Job job = job_of(search, search.result.least);
      job.request.limit_bytes.reset();
      if (job.device.kind == DeviceChoice::Kind::virtual_gpu)
        job.device.profile_file = roomy_profile(job.device);
      jobs.push_back(std::move(job));
      whose.push_back(&search);
    }
    if (jobs.empty()) return;
    runner.run(jobs, [&](size_t index, Run run) {
      whose[index]->result.unlimited =
          FitTrial{whose[index]->result.least, outcome_of("unlimited", std::move(run))};
    });
  }

  static bool ran_out(const Search& search) {
    return std::any_of(search.result.trials.begin(), search.result.trials.end(), [](const FitTrial& trial) {
      return trial.outcome.run.error && trial.outcome.run.error->kind == ErrorKind::out_of_memory;
    });
  }

  // The same card with memory enough for anything.
  std::filesystem::path roomy_profile(const DeviceChoice& device) {
    if (!directory_) directory_ = std::make_unique<TemporaryDirectory>();
    std::filesystem::path path = directory_->path() / (device.profile_id + ".json");
    std::ifstream in(device.profile_file);
    json profile = json::parse(in);
    profile["total_bytes"] = memory_enough;
    write_file_whole(path, profile.dump());
    return path;
  }

  static FitResult finish(Search& search) {
    FitResult result = std::move(search.result);
    result.largest = search.search.largest();
    result.checked_through = search.search.checked_through();
    result.at_most = search.search.at_most();
    std::sort(result.trials.begin(), result.trials.end(),
              [](const FitTrial& a, const FitTrial& b) { return a.size < b.size; });
    return result;
  }

  // What ended the runs, where nothing was run to its end and never for want of memory: there is no answer.
  static std::optional<Error> failure_of(const std::vector<FitResult>& results) {
    const FitTrial* first = nullptr;
    std::string sizes;
    for (const FitResult& result : results) {
      if (result.largest) return std::nullopt;
      for (const FitTrial& trial : result.trials) {
        if (trial.outcome.run.error->kind == ErrorKind::out_of_memory) return std::nullopt;
        if (!first) first = &trial;
        if (&result == &results.front()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(trial.size);
      }
    }
    if (!first) return std::nullopt;
    return Error(first->outcome.run.error->kind,
                 "no size of " + results.front().dimension + " could be run. " + std::to_string(first->size) +
                     " " + error_text(first->outcome.run) + "\nTried: " + sizes +
                     ". If the model takes only others, --min or --multiple-of name them.");
  }

  // What is found is no answer where a run is not the one that a GPU makes, or was ended before its time.
  std::optional<Error> doubt_of(const std::vector<FitResult>& results) const {
    for (const FitResult& result : results) {
      for (const FitTrial& trial : result.trials) {
        const std::optional<RunError>& error = trial.outcome.run.error;
        if (error && error->kind == ErrorKind::assumed_reads) {
          return Error(ErrorKind::assumed_reads, "no answer: " + result.dimension + " = " +
                                                     std::to_string(trial.size) + " " +
                                                     error_text(trial.outcome.run));
        }
      }
    }
    const FitTrial* decided = allow_assumed_ ? nullptr : first_decided(results);
    if (!decided) return std::nullopt;
    return decided_error(
        "no answer: with " + results.front().dimension + " = " + std::to_string(decided->size) + ", ",
        decided->outcome.run);
  }

  static std::string interrupted_text(const FitResult& result) {
    return "interrupted after " + std::to_string(result.trials.size()) + " runs" +
           (result.largest ? "; the largest " + result.dimension + " that was seen to fit is " +
                                 std::to_string(*result.largest) + ", which is not the answer"
                           : "");
  }

  ModelOptions options_;
  std::string vary_;
  std::string devices_;
  std::string html_;
  FitBounds bounds_;
  uint64_t check_ = 0;
  size_t jobs_ = 0;
  bool allow_assumed_ = false;
  std::vector<Search> searches_;
  std::unique_ptr<TemporaryDirectory> directory_;
};

}  // namespace

std::unique_ptr<Command> make_fit_command() { return std::make_unique<FitCommand>(); }

}  // namespace torchmem
