#pragma once

#include "capture/stream_writer.h"
#include "engine/error_record.h"
#include "request/run_request.h"

namespace torchmem::engine {

// Runs the request's actions in order. Each is a phase, named after what it does, with its position among
// the actions as "iteration". An action is an object with "do" and:
//
//   load       "as", "model" (a path), "method", "train", "dtype", "channels_last", "checkpoint", "inplace"
//   input      "as", "value" (a VALUE of a request: a tensor or a file)
//   forward    "model", "inputs": [{"name": N} | VALUE...], "as"
//   loss       "of", "on" (a tensor of a result), "kind", "as"
//   backward   "of"
//   detach     "of", "as"
//   optimizer  "models": [name...], "optimizer", "form", "as"
//   step       "optimizer"
//   zero_grad  "optimizer", "keep" (gradients become zeros and stay)
//   keep       "of", "in" (a list, made at its first use)
//   release    "names"
//   alloc      "as", "bytes"
//   empty_cache
//   autocast   "dtype" (null: off)
//   grad       "on"
//   limit      "bytes" (null: none)
//
// A name that is given again lets go of what it named once the new value is there. An action that runs out
// of memory writes the fact "out_of_memory": {POSITION: the error}; the actions go on at its
// "on_out_of_memory", else the error is the run's.
void run_scenario(const RunRequest& request, capture::StreamWriter& writer, RunState& state);

}  // namespace torchmem::engine
