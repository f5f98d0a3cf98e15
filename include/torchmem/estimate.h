// What parameters cost before anything is run: weights, gradients, optimizer state and master weights, by
// arithmetic alone. Activations, workspaces, the allocator's rounding and the context are not in it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

struct ParameterCount {
  std::string dtype;  // "f32"
  uint64_t elements = 0;
  uint64_t trained = 0;  // of them, with a gradient
};

struct EstimateOptions {
  bool training = true;
  std::string optimizer = "adamw";  // sgd, momentum, adam, adamw, rmsprop, adagrad
  std::string dtype;                // of the weights, in place of their own; empty: as they are
  bool master = false;              // f32 copies of the weights, which the optimizer then works on
  uint64_t shards = 1;              // devices that share what a ZeRO stage shards
};

// Of one device. Bytes.
struct EstimateRow {
  int stage = 0;  // ZeRO: 0 nothing is sharded, 1 optimizer state and master weights, 2 gradients too, 3 all
  uint64_t weights = 0;
  uint64_t gradients = 0;
  uint64_t optimizer_state = 0;
  uint64_t master_weights = 0;
  uint64_t total = 0;
};

struct Estimate {
  std::string name;  // the model's path, or the number as given
  std::vector<ParameterCount> parameters;
  uint64_t buffers = 0;           // bytes, on each device
  std::vector<EstimateRow> rows;  // stage 0; with several shards 1 to 3 too
};

// "7B", "350M", "1.3B", "124439808", "1e8": a number of parameters (K, M, B, T are powers of 1000). Throws
// Error(bad_usage) naming `what`.
uint64_t parse_parameters(std::string_view text, std::string_view what);

// Throws Error(bad_usage) for an optimizer or type that there is not, or numbers past 2^63 bytes.
Estimate make_estimate(std::string name, std::vector<ParameterCount> parameters, uint64_t buffers,
                       const EstimateOptions& options);

// The parameters of a model as the engine's inspection tells them ("parameter_tensors").
std::vector<ParameterCount> parameters_of(const nlohmann::json& model);

}  // namespace torchmem
