// What the command line adds to a run that the engine told, and how it says the run's error.
#pragma once

#include <string>

#include "launch/device_choice.h"
#include "request/run_request.h"
#include "torchmem/run.h"

namespace torchmem {

// Which device it was: kind, profile and whether that is verified, or index, and how it was chosen.
void add_device_info(Run& run, const DeviceChoice& device);

// Adds model path, arguments, and of the device: kind, profile, whether that is verified, why it was chosen.
void add_engine_info(Run& run, const RunRequest& request, const DeviceChoice& device);

// That there is no answer, since an assumed value decided what ran: `start`, which read it was and what came
// of it, and what can be done.
Error decided_error(const std::string& start, const Run& run);

// The run's error on standard error, with its phase, unless a report `told` it, and where the run was kept.
void say_error(const Run& run, const std::string& saved, bool told = false);

}  // namespace torchmem
