// The options about the values that a kernel would have computed, the same for every command that runs a
// model or a program.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torchmem::cli {

struct ValueOptions {
  std::string values = "small";
  std::string assume_file;
  std::optional<uint64_t> most_reads;
};

// --values, --assume and --max-assumed-reads.
void add_value_options(CLI::App& app, ValueOptions& options);

// --allow-assumed, of commands whose answer is not given where an assumed value decided what ran.
void add_allow_assumed(CLI::App& app, bool& allow);

// {"values", "assume", "max_assumed_reads"}: a part of a request; null for what is as it is without the
// option. Reads the file of --assume. Throws Error(bad_input).
nlohmann::json value_settings(const ValueOptions& options);

// What engine and agent find in their environment, of such settings, within a request or alone:
// TORCHMEM_VALUES, TORCHMEM_ASSUME, TORCHMEM_MAX_ASSUMED_READS. An empty one is to be removed, so that this
// process's own has no say.
std::vector<std::pair<std::string, std::string>> value_environment(const nlohmann::json& settings);

}  // namespace torchmem::cli
