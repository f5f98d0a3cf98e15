#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "capture/recorder.h"

namespace torchmem::engine {

enum class Mode { kTrain, kInference, kGradForward };

/// What one engine process is asked to do; the file that the command line writes for it. A VALUE stays JSON
/// until the model's schema is known:
///   {"tensor": {"dtype", "shape", "fill": randn|zeros|ones|arange|value|below, "value", "below", "spec": the
///   text as given}}
///   {"file": path of a tensor saved by torch.save} | {"scalar": number|true|null} | {"string": S}
///   {"list": [VALUE...]} | {"tuple": [VALUE...]} | {"dict": {K: VALUE}}
struct Request {
  std::string command;  // "profile" or "inspect"
  std::string model;
  std::string method = "forward";
  std::vector<std::string> libraries;
  std::string stream;
  std::optional<std::string> snapshots;
  std::string device_kind = "cuda";  // "cuda", "virtual", "cpu"
  int device_index = 0;
  std::vector<nlohmann::json> positional;
  std::map<std::string, nlohmann::json> named;
  Mode mode = Mode::kTrain;
  std::string optimizer = "adamw";
  std::string optimizer_form = "loop";
  std::string loss = "sum";
  std::optional<std::string> loss_on;
  int steps = 3;
  int accumulate = 1;
  std::optional<std::string> autocast;  // "bf16" or "f16"
  bool channels_last = false;
  bool jit = false;
  capture::Recording recording = capture::Recording::owners;
  std::optional<std::string> alloc_conf;
  std::optional<std::uint64_t> limit_bytes;
  bool debug = false;  // "log_level" is debug or trace: errors keep their C++ frames
};

/// Throws Failure (bad_usage) naming the field that is missing or has another type.
Request parse_request(const nlohmann::json& json);

}  // namespace torchmem::engine
