#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

namespace torchmem::engine {

// Rewrites the code that `method` leads to so that calls of the named submodules are checkpointed
// (engine/checkpoint_op.h). `names` are attribute paths ("layer1.0"), or "auto" alone. Before anything has
// run.
//
// "auto" takes, of the classes with at least two submodules that call others in turn, the one whose number
// of calls is nearest to the square root of the number of all calls that call nothing further: N of them
// then keep in the order of sqrt(N). Submodules inside another of the same class do not count.
//
// Returns the paths in the order of the code. Throws Failure (bad_usage) listing the candidates when a path
// is no submodule that is called, when one is inside another, or when auto finds no class.
std::vector<std::string> checkpoint_modules(const torch::jit::Method& method,
                                            const std::vector<std::string>& names);

// The submodules that are called, each once, in the order of the code.
struct CheckpointCandidate {
  std::string path;
  std::string class_name;  // "Bottleneck"
  std::size_t operators;   // in its code, inner calls included
  bool is_leaf;            // it calls no other module
  bool is_automatic;       // "auto" takes it
};
std::vector<CheckpointCandidate> checkpoint_candidates(const torch::jit::Method& method);

}  // namespace torchmem::engine
