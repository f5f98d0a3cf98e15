// What one run is asked to do: the command line makes it, the engine reads it, reports and baselines tell it.
// Its fields are a table (request/fields.h); a variant changes some of them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "request/arguments.h"
#include "request/recording.h"
#include "request/values.h"

namespace torchmem {

enum class Mode { train, inference, grad_forward };

// The sizes that a dimension of the inputs takes in turn, one in each step; at least one.
struct Sizes {
  std::string dimension;
  std::vector<uint64_t> sizes;
};

struct RunRequest : ValueSettings {
  std::string command = "profile";  // or "inspect", "check", "scenario"
  std::string model;                // of a scenario its file
  std::string method = "forward";
  std::vector<std::string> libraries;
  std::optional<std::string> snapshots;  // a directory
  std::string log_level = "warn";

  Arguments inputs;
  std::optional<Sizes> sizes;
  Mode mode = Mode::train;
  bool inference_mode = false;  // with mode inference: InferenceMode in place of NoGradMode
  std::string optimizer = "adamw";
  std::string optimizer_form = "loop";
  std::string loss = "sum";
  std::optional<std::string> loss_on;
  int steps = 3;
  int accumulate = 1;
  std::optional<std::string> autocast;  // "bf16" or "f16"
  std::optional<std::string> dtype;     // "f32", "f16" or "bf16": of floating weights and inputs
  std::vector<std::string> checkpoint;  // paths of modules, or "auto" alone (engine/checkpoint.h)
  bool inplace = false;                 // activations in place where that is safe (engine/inplace.h)
  bool keep_outputs = false;            // the result lives until the next forward has made its own
  bool keep_grads = false;              // zero_grad fills gradients with zeros in place of releasing them
  bool empty_cache = false;             // after each iteration
  bool channels_last = false;
  bool jit = false;
  Recording recording = Recording::owners;
  bool recording_in_turns = false;  // each other step is not recorded, to measure what that costs
  std::optional<std::string> alloc_conf;
  std::optional<uint64_t> limit_bytes;
  nlohmann::json actions;  // of a scenario (engine/scenario.h)

  // Set where the engine is started.
  std::string stream;
  std::string device_kind = "cuda";  // "cuda", "virtual", "cpu"
  int device_index = 0;
  std::vector<Arguments>
      inputs_in_turn;  // of the steps, from the first again after the last; empty: `inputs`

  // Errors keep their C++ frames.
  bool is_debug() const { return log_level == "debug" || log_level == "trace"; }
};

// As the engine gets it.
nlohmann::json request_json(const RunRequest& request);

// The reverse. What is missing or null has its default. Throws Error(bad_usage) naming the field that has
// another type or a value that there is not, or that is missing.
RunRequest read_request(const nlohmann::json& object);

// What was run, for reports and baselines: the fields that are told of that command.
nlohmann::json arguments_of(const RunRequest& request);

}  // namespace torchmem
