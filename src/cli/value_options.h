// The options about the values that a kernel would have computed, the same for every command that runs a
// model or a program.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "request/values.h"

namespace torchmem {

struct ValueOptions {
  std::string values = "small";
  std::string assume_file;
  std::optional<uint64_t> most_reads;
};

// --values, --assume and --max-assumed-reads.
void add_value_options(CLI::App& app, ValueOptions& options);

// --allow-assumed, of commands whose answer is not given where an assumed value decided what ran.
void add_allow_assumed(CLI::App& app, bool& allow);

// As a request has them. Reads the file of --assume. Throws Error(bad_input).
ValueSettings value_settings(const ValueOptions& options);

}  // namespace torchmem
