#pragma once

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace torchmem::engine {

// One call of a submodule's method that a model's code makes.
struct ModuleCall {
  std::string path;           // "layer1.0"
  torch::jit::Module module;  // whose method is called
  torch::jit::Node* node;     // prim::CallMethod; instances of one class share it
  std::size_t depth;          // how many modules are around it, the model itself counted
  bool is_leaf;               // it calls no other module
};

// The calls that `method` leads to, in the order of the code: a module before what it calls itself. Calls
// whose receiver is not named by attributes (an element chosen by a computed index) are left out.
std::vector<ModuleCall> module_calls(const torch::jit::Method& method);

}  // namespace torchmem::engine
