// What was run where, as lines and as words.
#pragma once

#include <string>

#include "torchmem/report.h"

namespace torchmem {

// "virtual:h200 (NVIDIA H200)".
std::string device_text(const Run& run);

// "train, adamw, loss sum of the result, 3 steps"; "" where the run does not say.
std::string arguments_text(const Run& run);

// What was rewritten in the model's code: "checkpointed layer1, layer2; 3 activations made in-place"; "" for
// nothing.
std::string rewritten_text(const Run& run);

// The model's path and its parameters' bytes; "" where the run does not say.
std::string model_name(const Run& run);

// Model, device, software and arguments, a line each and an empty one; "" when none is known.
std::string run_header(const Run& run, const TextStyle& style);

}  // namespace torchmem
