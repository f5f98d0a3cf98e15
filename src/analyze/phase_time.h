// Phases by name and on a device's trace.
#pragma once

#include <cstdint>
#include <string>

#include "torchmem/run.h"

namespace torchmem {

// "load", "forward:1"; with its micro-batch, if it has one and that is wanted, "forward:1.0".
std::string name_of_phase(const Phase& phase, bool with_micro);

// The number of the device's events that had happened as the phase ended.
uint64_t events_at_end(const Phase& phase, int32_t device);

// The phase that was under way as the event of that index happened: the first that ended after it. Null when
// none did.
const Phase* phase_at(const Run& run, int32_t device, uint64_t event);

}  // namespace torchmem
