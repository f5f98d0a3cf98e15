#pragma once

#include <torch/csrc/jit/api/module.h>

#include <nlohmann/json.hpp>

namespace torchmem::engine {

// Turns activation functions (relu, silu, gelu, tanh, ...) into their in-place forms where nothing else can
// see it: the input was made by an operator of the same stretch of code, no one else uses it, and, when
// gradients will be recorded, that operator does not keep its result for backward (an addition, product,
// convolution or normalisation; not another activation). To see that across modules, the code of the method
// and of what it checkpoints is inlined, which changes no lifetime.
//
// Dropout stays: its in-place form draws other random numbers, so no check could tell that it is right.
//
// Before anything has run. Returns {"rewritten": N, "in_place_already": N, "left": [{"operator", "line",
// "why"}]}.
nlohmann::json make_activations_inplace(const torch::jit::Method& method, bool recording);

}  // namespace torchmem::engine
