#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "capture/recording.h"

namespace torchmem::engine {

enum class Mode { kTrain, kInference, kGradForward };

/// The arguments of one call.
struct Arguments {
  std::vector<nlohmann::json> positional;
  std::map<std::string, nlohmann::json> named;
};

/// What one engine process is asked to do; the file that the command line writes for it. A VALUE stays JSON
/// until the model's schema is known:
///   {"tensor": {"dtype", "shape", "fill": randn|zeros|ones|arange|value|below, "value", "below", "spec": the
///   text as given}}
///   {"file": path of a tensor saved by torch.save} | {"scalar": number|true|null} | {"string": S}
///   {"list": [VALUE...]} | {"tuple": [VALUE...]} | {"dict": {K: VALUE}}
struct Request {
  std::string command;  // "profile", "inspect", "check" or "scenario"
  std::string model;
  std::string method = "forward";
  std::vector<std::string> libraries;
  std::string stream;
  std::optional<std::string> snapshots;
  std::string device_kind = "cuda";  // "cuda", "virtual", "cpu"
  int device_index = 0;
  Arguments inputs;
  std::vector<Arguments>
      inputs_in_turn;  // of the steps, from the first again after the last; empty: `inputs`
  Mode mode = Mode::kTrain;
  bool inference_mode = false;  // with mode inference: InferenceMode in place of NoGradMode
  std::string optimizer = "adamw";
  std::string optimizer_form = "loop";
  std::string loss = "sum";
  std::optional<std::string> loss_on;
  int steps = 3;
  int accumulate = 1;
  std::optional<std::string> autocast;  // "bf16" or "f16"
  std::optional<std::string> dtype;     // "f32", "f16" or "bf16": of floating weights and inputs
  bool channels_last = false;
  std::vector<std::string> checkpoint;  // paths of modules, or "auto" alone (engine/checkpoint.h)
  bool inplace = false;                 // activations in place where that is safe (engine/inplace.h)
  bool keep_outputs = false;            // the result lives until the next forward has made its own
  bool keep_grads = false;              // zero_grad fills gradients with zeros in place of releasing them
  bool empty_cache = false;             // after each iteration
  bool jit = false;
  capture::Recording recording = capture::Recording::owners;
  bool recording_in_turns = false;
  nlohmann::json actions;  // of a scenario (engine/scenario.h)
  std::optional<std::string> alloc_conf;
  std::optional<std::uint64_t> limit_bytes;
  bool debug = false;  // "log_level" is debug or trace: errors keep their C++ frames
};

/// Throws Failure (bad_usage) naming the field that is missing or has another type.
Request parse_request(const nlohmann::json& json);

}  // namespace torchmem::engine
