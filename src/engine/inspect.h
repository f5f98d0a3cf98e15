#pragma once

#include "capture/stream_writer.h"
#include "request/run_request.h"

namespace torchmem::engine {

// Writes what is in the model's file as the fact "model", without a device and without reading its weights:
// what Model::description says, or, when it cannot be loaded for want of an operator, "missing_operators"
// before the Failure is thrown.
void run_inspect(const RunRequest& request, capture::StreamWriter& writer);

}  // namespace torchmem::engine
