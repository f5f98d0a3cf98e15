#include "cli/value_options.h"

#include "request/assume_file.h"

namespace torchmem {

namespace {

constexpr const char* group = "Values, on the virtual GPU";
constexpr uint64_t most_reads = uint64_t{1} << 40;

const std::vector<std::string> choices = {"none", "small", "all"};

}  // namespace

void add_value_options(CLI::App& app, ValueOptions& options) {
  app.add_option(
         "--values", options.values,
         "Which values the CPU computes: none; small ones, and what the host gave is kept; all, as slow "
         "and as large as that is")
      ->option_text("none|small|all (default small)")
      ->check(CLI::IsMember(choices))
      ->group(group);
  app.add_option("--assume", options.assume_file,
                 "What reads of values that are not known give: lines PLACE: VALUE, the place a line such as "
                 "model.py:31 or an operator, the value true, false or a number; several, separated by "
                 "commas, in turn")
      ->option_text("FILE")
      ->group(group);
  app.add_option("--max-assumed-reads", options.most_reads,
                 "End the run after so many reads of values that are not known")
      ->option_text("N")
      ->check(CLI::Range(uint64_t{1}, most_reads))
      ->group(group);
}

void add_allow_assumed(CLI::App& app, bool& allow) {
  app.add_flag("--allow-assumed", allow,
               "Answer also where a value that is not known decided a size, a loop or a branch")
      ->group(group);
}

ValueSettings value_settings(const ValueOptions& options) {
  ValueSettings settings;
  if (options.values != "small") settings.values = options.values;
  if (!options.assume_file.empty()) settings.assume = read_assume_file(options.assume_file);
  settings.max_assumed_reads = options.most_reads;
  return settings;
}

}  // namespace torchmem
