// Phases on a device's trace.
#pragma once

#include <cstdint>

#include "torchmem/run.h"

namespace torchmem {

// The number of the device's events that had happened as the phase ended.
uint64_t events_at_end(const Phase& phase, int32_t device);

// The phase that was under way as the event of that index happened: the first that ended after it. Null when
// none did.
const Phase* phase_at(const Run& run, int32_t device, uint64_t event);

}  // namespace torchmem
