// Sizes that a dimension of the inputs takes in turn, one in each step: "S=64,512,128". The inputs have the
// dimension's name until the engine is started.
#pragma once

#include <string>
#include <vector>

#include "request/run_request.h"

namespace torchmem {

// Throws Error(bad_usage) when the text is no such list or no input has that dimension.
void add_sizes(RunRequest& request, const std::string& text);

// The dimensions of the inputs that have neither a size nor several in turn.
std::vector<std::string> open_dimensions(const RunRequest& request);

// Throws Error(bad_usage) when there is one; `what` names the inputs: "the inputs of resnet:batch=8".
void check_sized(const RunRequest& request, const std::string& what = "the inputs");

// What can be done about shapes that change; nothing where the request has no sizes.
void pad_sizes(RunRequest& request);      // every step has the largest
void bucket_sizes(RunRequest& request);   // each is rounded up to a power of two, to the largest at most
void warm_up_sizes(RunRequest& request);  // a step with the largest comes first

// Gives the inputs their sizes: "inputs" those of the largest, "inputs_in_turn" those of each step.
void resolve_sizes(RunRequest& request);

}  // namespace torchmem
