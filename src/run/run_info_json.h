// What a run says of itself, to and from the JSON of the event stream, run files and reports.
#pragma once

#include "torchmem/run_info.h"

namespace torchmem {

// A field that is not as it must be stays in `rest`, so that info_json gives back what was read.
RunInfo info_from_json(nlohmann::json json);

// {"model": {...}, "device": {...}, "software": {...}, "arguments": {...}, ...}, whichever there are.
nlohmann::json info_json(const RunInfo& info);

}  // namespace torchmem
