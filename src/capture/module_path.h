#pragma once

#include <string>
#include <vector>

namespace torchmem::capture {

// The path of the innermost module and its type, e.g. "layer1.0 (BasicBlock)", from what
// `torch::jit::currentModuleHierarchy` returns, outermost first: "TOP(Type)::method", "name(Type)::method",
// "SELF(Type)::method", "CALL_FUNCTION::name()::name". Empty in the root module.
std::string module_path(const std::vector<std::string>& hierarchy);

}  // namespace torchmem::capture
