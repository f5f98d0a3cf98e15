// Starts the engine, waits for it, and makes a run of what it told, also when it was stopped, killed or
// crashed.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/device_choice.h"
#include "torchmem/run.h"

namespace torchmem::cli {

// `request` is the engine's request but for "stream" and "device", which are set here. The run's `error` says
// what went wrong, if anything: an interruption (SIGINT, SIGTERM) is ErrorKind::interrupted. Throws
// Error(unavailable) when the engine cannot be started at all.
Run run_engine(nlohmann::json request, const DeviceChoice& device);

}  // namespace torchmem::cli
