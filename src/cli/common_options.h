// Options that every command has.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace torchmem {

struct CommonOptions {
  std::string json;  // "-": standard output; empty: none
  bool quiet = false;
  std::string log_level = "warn";
};

void add_common_options(CLI::App& app, CommonOptions& options);

// --jobs N, of commands that run many.
void add_jobs_option(CLI::App& app, size_t& jobs);

// Sends the log to standard error from that level on.
void start_log(const CommonOptions& options);

// "--json" alone means standard output; written out so that it takes no value from the next argument.
// Arguments after "--" are left alone.
std::vector<std::string> spell_out_json(int count, const char* const* arguments);

}  // namespace torchmem
