// The options of commands that run or open a model.
#pragma once

#include <CLI/CLI.hpp>
#include <climits>
#include <map>
#include <string>
#include <vector>

#include "cli/value_options.h"
#include "request/run_request.h"

namespace torchmem {

// Until --steps is given.
constexpr int unset_steps = INT_MIN;

struct ModelOptions {
  RunRequest request;                        // what the options' texts are as they stand
  std::map<std::string, std::string> texts;  // of the others, by the field's key
  std::vector<std::string> inputs;
  std::string inputs_file;
  std::string device = "auto";
  std::string snapshots;
  ValueOptions values;
  bool named_dimensions = false;  // inputs may have dimensions without a size, as f32:Bx3x224x224

  std::string& model = request.model;

  ModelOptions() { request.steps = unset_steps; }
  ModelOptions(const ModelOptions&) = delete;
  ModelOptions& operator=(const ModelOptions&) = delete;
};

// Only what it takes to open a model: device, method, libraries.
void add_opening_options(CLI::App& app, ModelOptions& options);
// What it takes to run one as well.
void add_running_options(CLI::App& app, ModelOptions& options);

// Checks the options and the files that they name, and makes the request of them. Throws Error(bad_usage,
// bad_input, bad_model).
RunRequest make_request(const ModelOptions& options, const std::string& command,
                        const std::string& log_level);

// Every file that the options name, none of which may be written to.
std::vector<std::string> input_files(const ModelOptions& options);

}  // namespace torchmem
