// How far a result can be trusted: what the virtual GPU had to assume.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchmem/run.h"

namespace torchmem {

// {"complete", "verified", "estimated_workspaces": [...], "assumed_values": [...], "unmodelled_calls": [...]}
nlohmann::json fidelity_json(const Run& run);

// Whether the device was a real one, or one whose profile was compared with it.
bool is_verified(const Run& run);

// Whether the finding has that flag: "unknown", "without" (docs/schema/common.json).
bool says(const Finding& finding, const char* flag);

// "fidelity: complete, nothing was assumed", or how much was; without a line's end.
std::string fidelity_line(const Run& run);

// That, then one or two for each finding (the first few of a kind).
std::string fidelity_text(const Run& run);

// Of a model that failed: how often a value that is not known was read as zero before, and where first; ""
// for never. A model may fail for that alone.
std::string assumed_before_text(const Run& run);

}  // namespace torchmem
