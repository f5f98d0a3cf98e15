// What the user can do about an error, in the words of what was asked for.
#pragma once

#include "torchmem/run.h"

namespace torchmem {

enum class Asked { by_options, by_scenario };

// Ends the error's message with what to do, if the engine knows it; once.
void add_remedy(RunError& error, Asked asked);

}  // namespace torchmem
