// What is typed after `torchmem gate`, and what it asks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/model_options.h"
#include "study/gate_study.h"

namespace torchmem {

struct GateOptions {
  ModelOptions model;
  std::string baseline;
  std::string tolerance;
  std::string budget;
  std::vector<std::string> metrics;
  std::vector<std::string> phases;
  std::vector<std::string> categories;
  bool update = false;
  bool allow_assumed = false;
};

void add_gate_options(CLI::App& app, GateOptions& options);

// What they ask of the model, or of the program where there is one. Reads the baseline, so that a bad one
// costs no run. Throws Error(bad_usage, bad_input).
GateQuestion read_question(const CLI::App& app, const GateOptions& options,
                           const std::vector<std::string>& program);

// The model's path, or the program with its arguments.
std::string subject_text(const GateOptions& options, const std::vector<std::string>& program);

}  // namespace torchmem
