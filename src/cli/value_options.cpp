#include "cli/value_options.h"

#include "request/assume_file.h"

namespace torchmem {

namespace {

constexpr const char* group = "Values, on the virtual GPU";
constexpr uint64_t most_reads = uint64_t{1} << 40;

const std::vector<std::string> choices = {"none", "small", "all"};

}  // namespace

void add_value_options(CLI::App& app, ValueOptions& options) {
  app.add_option("--values", options.values,
                 "Which values the CPU computes: none; small ones, and values from the host are kept; all, "
                 "however slow and large")
      ->option_text("none|small|all (default small)")
      ->check(CLI::IsMember(choices))
      ->group(group);
  app.add_option("--assume", options.assume_file,
                 "What to take for values that are not known: lines PLACE: VALUE, where PLACE is a source "
                 "line such as model.py:31 or an operator, and VALUE is true, false or a number, or several, "
                 "separated by commas, one for each read")
      ->option_text("FILE")
      ->group(group);
  app.add_option("--max-assumed-reads", options.most_reads,
                 "End the run after N reads of values that are not known")
      ->option_text("N")
      ->check(CLI::Range(uint64_t{1}, most_reads))
      ->group(group);
}

void add_allow_assumed(CLI::App& app, bool& allow) {
  app.add_flag("--allow-assumed", allow,
               "Answer even where a value that is not known decided a size, a loop or a branch")
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
