#pragma once

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "capture/recorder.h"
#include "engine/failure.h"
#include "request/run_request.h"

namespace torchmem::engine {

// What is known of a run when it ends in an exception.
struct RunState {
  capture::Recorder* recorder = nullptr;  // knows the phase and the numbers of an out-of-memory
  nlohmann::json constant_devices = nlohmann::json::array();  // of the model whose forward failed
  std::string call;                                           // how it was called, e.g. "forward(x=f32:2x64)"
};

// The X record of an exception, and its kind, which decides the exit code. An out-of-memory has the
// allocator's numbers beside the message: requested_bytes, segment_bytes (what it would have asked the
// device for), limit_bytes, device_free_bytes, allocated_bytes, reserved_bytes, largest_free_block_bytes.
struct ErrorRecord {
  FailureKind kind;
  nlohmann::json json;
};

ErrorRecord error_record(const std::exception_ptr& error, const RunRequest& request, const RunState& state);

}  // namespace torchmem::engine
