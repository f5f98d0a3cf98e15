#pragma once

#include "capture/stream_writer.h"
#include "request/run_request.h"

namespace torchmem::engine {

// Whether the model gives the same with the request's rewrites (checkpoint, inplace) as without them: both
// run on the CPU with the file's own weights, the same random numbers and the request's inputs cut to at
// most two along the first dimension (the largest is taken to be the batch); in training the gradients of
// all parameters are compared too. Equal: within 1e-4 of the size of the largest element.
//
// Writes the fact "check": {"made": true, "equal", "tensors": how many were compared, "largest_difference":
// relative, "inputs": how it was called} or {"made": false, "why"}.
void run_check(const RunRequest& request, capture::StreamWriter& writer);

}  // namespace torchmem::engine
