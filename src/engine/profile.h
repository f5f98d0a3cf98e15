#pragma once

#include "capture/stream_writer.h"
#include "engine/error_record.h"
#include "request/run_request.h"

namespace torchmem::engine {

// Runs the model as the request says and writes the run to the stream: load, then for each iteration input,
// forward, loss, backward, optimizer, zero_grad (mode train) or input, forward, end. With `accumulate` above
// 1 an iteration repeats input, forward, loss and backward with "micro" 0, 1, ... before its one optimizer
// step; gradients add up, losses are not divided. With `empty_cache` a phase of that name ends the
// iteration.
//
// Lifetimes: the result but for the loss's tensor is released when forward ends, that tensor when loss ends;
// the loss and the inputs live to the end of the iteration (of the micro-batch, until the next one's inputs
// are about to be made). Inference runs without gradients from forward on (with
// `inference_mode` under InferenceMode); grad-forward is the same with gradients recorded, the model in
// evaluation mode in both. With `keep_outputs` the whole result lives until the next forward has made its
// own, as a variable of a Python loop does; with `keep_grads` zero_grad releases nothing.
//
// Throws Failure or whatever PyTorch throws; `state` then says where it was.
void run_profile(const RunRequest& request, capture::StreamWriter& writer, RunState& state);

}  // namespace torchmem::engine
