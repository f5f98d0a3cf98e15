#pragma once

#include <torch/csrc/jit/api/module.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace torchmem::engine {

// "forward(Tensor x, int n=2) -> Tensor", self left out.
std::string signature_text(const torch::jit::Method& method);

// Of the module itself: {"methods": [{"name", "signature"}], "parameter_tensors" and "buffer_tensors":
// [{"name", "dtype", "shape", "bytes", "requires_grad"}], "training", "frozen" (no parameter is left: it
// cannot be trained)}.
nlohmann::json module_facts(const torch::jit::Module& module);

// Of the method's graph with every call inlined: {"operators": {name: count}, "constant_tensors": [{"dtype",
// "shape", "bytes", "device"}], "constant_devices": [{"device", "line"}], "quantized": whether it uses
// quantized operators}.
nlohmann::json graph_facts(const torch::jit::Method& method);

// The tensors that are constants of that graph, as often as they stand there.
std::vector<at::Tensor> constant_tensors(const torch::jit::Method& method);

// The original "file:line" of a node, "" where it is not known.
std::string source_line(const torch::jit::Node& node);

// Replaces every call of a method or function by its code.
void inline_every_call(torch::jit::Graph& graph);

}  // namespace torchmem::engine
