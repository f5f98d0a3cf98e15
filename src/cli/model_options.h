// The options of commands that run or open a model.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/value_options.h"

namespace torchmem::cli {

struct ModelOptions {
  std::string model;
  std::vector<std::string> inputs;
  std::string inputs_file;
  std::string device = "auto";
  std::string method = "forward";
  std::vector<std::string> libraries;
  std::string mode = "train";
  std::string optimizer = "adamw";
  std::string loss = "sum";
  std::string loss_on;
  std::string sizes;         // "S=64,512,128"
  std::optional<int> steps;  // 3, or one for each of the sizes
  int accumulate = 1;
  std::string autocast;
  std::string dtype;
  bool channels_last = false;
  std::vector<std::string> checkpoint;
  bool inplace = false;
  bool keep_outputs = false;
  bool keep_grads = false;
  bool empty_cache = false;
  bool jit = false;
  bool no_attribution = false;
  std::string alloc_conf;
  std::string limit;
  std::string snapshots;
  ValueOptions values;
  bool named_dimensions = false;  // inputs may have dimensions without a size, as f32:Bx3x224x224
};

// Only what it takes to open a model: device, method, libraries.
void add_opening_options(CLI::App& app, ModelOptions& options);
// What it takes to run one as well.
void add_running_options(CLI::App& app, ModelOptions& options);

// Checks the options and the files that they name, and makes the engine's request of them ("stream" and
// "device" come later). Throws Error(bad_usage, bad_input, bad_model).
nlohmann::json make_request(const ModelOptions& options, const std::string& command,
                            const std::string& log_level);

// "adamw:foreach" as name and form; no suffix is LibTorch's own loop, "loop". Throws Error(bad_usage) that
// starts with `what`.
std::pair<std::string, std::string> parse_optimizer(const std::string& text,
                                                    const std::string& what = "--optimizer");

const std::vector<std::string>& loss_names();

// Every file that the options name, none of which may be written to.
std::vector<std::string> input_files(const ModelOptions& options);

// The part of a request that says what was run, for reports.
nlohmann::json arguments_of(const nlohmann::json& request);

}  // namespace torchmem::cli
