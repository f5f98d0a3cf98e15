// The phases of a run, as a table. Iterations that only repeat the one before are a line.
#pragma once

#include <string>

#include "torchmem/report.h"

namespace torchmem {

// "" when there are no phases.
std::string phase_text(const Run& run, const TextStyle& style);

// For a pull request, without times.
std::string phase_markdown(const Run& run);

}  // namespace torchmem
