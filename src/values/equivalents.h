#pragma once

#include <ATen/core/stack.h>

#include <string>

namespace torchmem::values {

// Operators for which the CPU has no kernel, or none for some types, but others that compute the same.
bool has_equivalent(const std::string& name);

// Calls those with the arguments on the CPU; the stack becomes the results. Throws as PyTorch does.
void call_equivalent(const std::string& name, torch::jit::Stack& stack);

}  // namespace torchmem::values
