// Variants: what can be changed about a run, in words such as "train+autocast=bf16". Those that can make it
// take less memory are levers too. One table drives `compare`, `advise`, their help and their documentation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "launch/runner.h"

namespace torchmem {

// What is known of the model and of the base run before a lever is tried.
struct LeverContext {
  RunRequest request;               // the base run's
  bool has_activations = false;     // some that could be made in place
  std::vector<std::string> blocks;  // what --checkpoint auto stands for; empty: it can choose nothing
};

// A variant as advice: of which value, when it applies, what it costs, and what does it in the program.
struct LeverFacts {
  const char* value;  // "bf16" of autocast; "" where the variant takes none
  const char* group;  // of the levers of one group, one at most can be pulled
  // Order in which goal mode pays: 0 nothing, 1 settings, 2 code that computes the same, 3 time, 4 numbers
  // that differ, 5 training that differs.
  int price;
  const char* cost;  // in words
  const char* code;
  // Whether there is anything for it to do; the reason when there is not.
  const char* (*why_not)(const LeverContext& context);
};

struct Variant {
  const char* name;   // "autocast"
  const char* value;  // "bf16|f16" in the help; "" where it takes none
  const char* help;
  // Throws Error(bad_usage) without the variant's name for a value that it does not take.
  void (*apply)(Job& job, const std::string& value);
  std::vector<LeverFacts> levers = {};
};

const std::vector<Variant>& variant_table();

// Changes the job as the variants joined by '+' say, and names it after them. Throws Error(bad_usage) that
// starts with "--variant".
void apply_variant(Job& job, std::string_view variant);

// One line for each, for --help.
std::string variant_help();

struct Lever {
  std::string name;  // "autocast=bf16", a variant
  LeverFacts facts;
};

// All levers, the cheapest ones first.
const std::vector<Lever>& lever_table();

}  // namespace torchmem
