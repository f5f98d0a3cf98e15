#include "cli/gate_options.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

constexpr const char* footer =
    "Examples:\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --baseline memory.json --update\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --baseline memory.json --tolerance 1%\n"
    "  torchmem gate model.pt --input f32:8x3x224x224 --budget 24GiB --metric device\n"
    "  torchmem gate --baseline train.json --tolerance 16MiB -- python3 train.py --epochs 1\n"
    "With GITHUB_ACTIONS=true, failures are written as annotations too.\n"
    "Exit codes: 0 passed; 1 failed, or out of memory; 2 no verdict, e.g. a baseline of another input, or "
    "an assumed value that decided what ran; 3 this machine cannot run it; 130 interrupted.";

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (Metric metric : metrics) names.emplace_back(name_of(metric));
  return names;
}

std::string read_file(const fs::path& path) {
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
              fmt::format("cannot read the baseline {}: {}", path.string(), std::strerror(errno)));
}

Baseline read_old(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw Error(ErrorKind::bad_input, "there is no baseline " + path +
                                          ". Make it with the same command and --update, and keep it with "
                                          "the code.");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorKind::bad_input,
                fmt::format("the baseline {} is a {}; expected a file, as --update writes it", path,
                            fs::is_directory(status) ? "directory" : "pipe or a device"));
  }
  return read_baseline(read_file(path), path);
}

void check_bounds(const GateOptions& options) {
  if (options.baseline.empty() && (options.update || !options.tolerance.empty())) {
    throw Error(ErrorKind::bad_usage,
                std::string(options.update ? "--update" : "--tolerance") + " needs --baseline FILE");
  }
  if (options.baseline.empty() && options.budget.empty()) {
    throw Error(ErrorKind::bad_usage,
                "nothing to check against: expected --baseline FILE, --budget SIZE, or both");
  }
}

void check_subjects(const GateOptions& options) {
  if (options.categories.empty() || !options.phases.empty()) return;
  for (const std::string& metric : options.metrics) {
    if (metric == "allocated") continue;
    throw Error(ErrorKind::bad_usage, "--metric " + metric +
                                          ": of a --category, only allocated bytes are counted; leave one "
                                          "of the two out");
  }
}

// A program has no phases, no context that is measured, and options of its own.
void check_program(const CLI::App& app, const GateOptions& options) {
  if (!(options.phases.empty() && options.categories.empty())) {
    throw Error(ErrorKind::bad_usage,
                "--phase and --category are for a model: of a program, only the peaks of "
                "its processes are known");
  }
  if (std::find(options.metrics.begin(), options.metrics.end(), "device") != options.metrics.end())
    throw Error(ErrorKind::bad_usage, "--metric device is for a model: a program's context is not measured");
  for (const CLI::Option* option : app.get_options()) {
    const std::string& group = option->get_group();
    const std::string name = option->get_name();
    bool is_models = group == "Model" || group == "Inputs" || group == "Run";
    if (option->count() == 0 || !is_models || name == "--device") continue;
    throw Error(
        ErrorKind::bad_usage,
        name + (name == "--alloc-conf" ? " is for a model; a program takes it from PYTORCH_CUDA_ALLOC_CONF"
                                       : " is for a model; a program has its own"));
  }
}

std::vector<GateSubject> subjects_of(const GateOptions& options) {
  std::vector<Metric> metrics;
  for (const std::string& name : options.metrics) metrics.push_back(*metric_from(name));
  if (metrics.empty()) metrics = {Metric::allocated, Metric::reserved};
  std::vector<GateSubject> subjects;
  auto add = [&](const GateSubject& subject) {
    if (std::find(subjects.begin(), subjects.end(), subject) == subjects.end()) subjects.push_back(subject);
  };
  for (const std::string& phase : options.phases) {
    for (Metric metric : metrics) add({GateSubject::Scope::phase, phase, metric});
  }
  for (const std::string& category : options.categories)
    add({GateSubject::Scope::category, category, Metric::allocated});
  if (!subjects.empty()) return subjects;
  for (Metric metric : metrics) add({GateSubject::Scope::run, "", metric});
  return subjects;
}

// "baseline.json, tolerance 1%, and a budget of 24GiB".
std::string against_text(const GateOptions& options) {
  std::string text;
  if (!options.baseline.empty() && !options.update)
    text = options.baseline + (options.tolerance.empty() ? "" : ", tolerance " + options.tolerance);
  if (options.budget.empty()) return text;
  const bool is_bare = options.budget.find_first_not_of("0123456789.") == std::string::npos;
  return text + (text.empty() ? "" : ", and ") + "a budget of " + options.budget + (is_bare ? " B" : "");
}

}  // namespace

void add_gate_options(CLI::App& app, GateOptions& options) {
  const char* group = "Gate";
  app.add_option("MODEL", options.model.model, "A TorchScript file; none with -- PROGRAM ARGUMENTS...");
  app.add_option("--baseline", options.baseline, "The numbers to compare with, as --update writes them")
      ->option_text("FILE.json")
      ->group(group);
  app.add_option("--tolerance", options.tolerance,
                 "How much more than the baseline still passes: a percentage or a size")
      ->option_text("1%|16MiB (default 0)")
      ->group(group);
  app.add_option("--budget", options.budget, "The most that may pass, with or without a baseline")
      ->option_text("SIZE")
      ->group(group);
  app.add_option("--metric", options.metrics,
                 "allocated, reserved, or device (with context and modules); may be repeated")
      ->option_text("NAME (default allocated and reserved)")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(metric_names()))
      ->group(group);
  app.add_option("--phase", options.phases,
                 "A phase in place of the whole run: forward:1, or forward for the highest; may be repeated")
      ->option_text("NAME")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--category", options.categories,
                 "A category at the peak in place of the whole run, e.g. activations; may be repeated")
      ->option_text("NAME")
      ->allow_extra_args(false)
      ->group(group);
  app.add_flag("--update", options.update, "Write the baseline")->group(group);
  add_running_options(app, options.model);
  add_allow_assumed(app, options.allow_assumed);
  app.footer(footer);
}

std::string subject_text(const GateOptions& options, const std::vector<std::string>& program) {
  return program.empty() ? options.model.model : joined(program, " ");
}

GateQuestion read_question(const CLI::App& app, const GateOptions& options,
                           const std::vector<std::string>& program) {
  if (program.empty() == options.model.model.empty())
    throw Error(ErrorKind::bad_usage, "expected either a MODEL, or a program after --");
  check_bounds(options);
  check_subjects(options);
  if (!program.empty()) check_program(app, options);
  GateQuestion question;
  question.model = subject_text(options, program);
  question.is_program = !program.empty();
  question.subjects = subjects_of(options);
  if (!options.tolerance.empty()) question.tolerance = parse_tolerance(options.tolerance, "--tolerance");
  if (!options.budget.empty()) question.budget = parse_bytes(options.budget, "--budget");
  question.baseline_file = options.baseline;
  if (!options.baseline.empty() && !options.update) question.baseline = read_old(options.baseline);
  question.against = against_text(options);
  question.updates = options.update;
  question.allow_assumed = options.allow_assumed;
  return question;
}

}  // namespace torchmem
