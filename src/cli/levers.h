// Levers: what can be changed about a run so that it takes less memory. A table drives `advise`, its help and
// its documentation.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/runner.h"

namespace torchmem::cli {

// What is known of the model and of the base run before a lever is tried.
struct LeverContext {
  nlohmann::json request;           // the base run's
  bool has_activations = false;     // some that could be made in place
  std::vector<std::string> blocks;  // what --checkpoint auto stands for; empty: it can choose nothing
  uint64_t batch = 0;               // the first dimension of the first input; 0: none
};

struct Lever {
  const char* name;   // "autocast=bf16", in compare's words where it has some
  const char* group;  // of the levers of one group, one at most can be pulled
  // Order in which goal mode pays: 0 nothing, 1 settings, 2 code that computes the same, 3 time, 4 numbers
  // that differ, 5 training that differs.
  int price;
  const char* cost;  // in words
  const char* code;  // what does it in the program
  // Whether there is anything for it to do; the reason when there is not.
  const char* (*why_not)(const LeverContext& context);
  void (*pull)(Job& job, const LeverContext& context);
};

const std::vector<Lever>& lever_table();

// The first dimension of the first tensor among the inputs; 0 when there is none.
uint64_t batch_of(const nlohmann::json& inputs);

}  // namespace torchmem::cli
