#include "cli/common_options.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <filesystem>

namespace torchmem {

namespace {

constexpr const char* log_levels[] = {"trace", "debug", "info", "warn", "error", "off"};

}  // namespace

void add_common_options(CLI::App& app, CommonOptions& options) {
  app.add_option("--json", options.json, "The result as JSON, to standard output or to FILE")
      ->option_text("[=FILE]")
      ->group("Output");
  app.add_flag("--quiet", options.quiet, "No progress, only the result and errors")->group("Output");
  app.add_option("--log-level", options.log_level, "How much to say on standard error while working")
      ->option_text("LEVEL (trace, debug, info, warn, error, off; default warn)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(log_levels), std::end(log_levels))))
      ->group("Output");
}

void add_jobs_option(CLI::App& app, size_t& jobs) {
  app.add_option("--jobs", jobs, "How many runs at once on the virtual GPU (a real GPU takes one at a time)")
      ->option_text("N (default: as cores and free memory allow)")
      ->check(CLI::Range(1, 1024))
      ->group("Run");
}

void start_log(const CommonOptions& options) {
  auto logger =
      std::make_shared<spdlog::logger>("torchmem", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("torchmem: [%l] %v");
  logger->set_level(spdlog::level::from_str(options.log_level));
  spdlog::set_default_logger(std::move(logger));
  std::error_code error;
  spdlog::debug("torchmem {} in {}", TORCHMEM_VERSION, std::filesystem::current_path(error).string());
}

std::vector<std::string> spell_out_json(int count, const char* const* arguments) {
  std::vector<std::string> result;
  bool ours = true;
  for (int i = 1; i < count; ++i) {
    std::string argument = arguments[i];
    if (argument == "--") ours = false;
    result.push_back(ours && argument == "--json" ? "--json=-" : argument);
  }
  return result;
}

}  // namespace torchmem
