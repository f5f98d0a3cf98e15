#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "request/run_request.h"
#include "torchmem/run.h"

namespace torchmem::engine {

// A model that was loaded and can be run. The loader behind it is TorchScript's today.
class Model {
 public:
  virtual ~Model() = default;
  // The schema of the method that runs, its self left out.
  virtual std::vector<c10::Argument> arguments() const = 0;
  // As people write it, e.g. "forward(Tensor x, int n=2) -> Tensor".
  virtual std::string signature() const = 0;
  virtual void set_training(bool training) = 0;
  virtual std::vector<at::Tensor> parameters() const = 0;
  virtual std::vector<at::Tensor> buffers() const = 0;
  // Parameters and buffers by their dotted names.
  struct NamedTensor {
    std::string name;
    at::Tensor tensor;
    Category category;
  };
  virtual std::vector<NamedTensor> named_tensors() const = 0;
  virtual c10::IValue run(std::vector<c10::IValue> arguments) = 0;
  // Converts weights and buffers of four dimensions to the channels-last layout, as
  // `module.to(memory_format=...)` does.
  virtual void to_channels_last() = 0;
  // Converts floating weights and buffers, one after the other, as `module.to(dtype)` does.
  virtual void to_dtype(c10::ScalarType dtype) = 0;
  // Rewrites the code before it first runs: checkpointed modules and in-place activations, as the request
  // says. Returns what was done, {"checkpoint": [path], "inplace": {...}}, without what was not asked for.
  virtual nlohmann::json rewrite(const RunRequest& request) = 0;
  // Path, sizes and counts for the run's facts.
  virtual nlohmann::json facts() const = 0;
  // Places where a device was written into the code, e.g. by tracing: {"device", "line"}.
  virtual nlohmann::json constant_devices() const = 0;
  // Everything that `inspect` shows of a model.
  virtual nlohmann::json description() const = 0;
};

// Loads a TorchScript archive straight onto the device. With `weightless`, the bytes of its large tensors
// are not read. Throws Failure (bad_model) saying what the file is instead, or which operator is missing.
std::unique_ptr<Model> load_torchscript(const RunRequest& request, c10::Device device, bool weightless);

}  // namespace torchmem::engine
