// Assumptions to and from JSON, in the words of the event stream: shared by the stream, the run file, the
// records of processes and the reports.
#pragma once

#include "torchmem/run.h"

namespace torchmem {

// A field that is not as it must be stays in `rest`. Throws nlohmann::json::exception where kind, count or
// bytes has the wrong type.
AssumptionRecord assumption_from_json(nlohmann::json json);

// Without the kind, which is the list's that it is in.
nlohmann::json assumption_to_json(const AssumptionRecord& assumption);

// Adds one as it happened to the list: alike ones become one. Alike is everything equal but bytes and count,
// what it was taken for, of which the first stays, and what it decides, where only one of the two says it.
void add_assumption(std::vector<AssumptionRecord>& assumptions, AssumptionRecord assumption);

}  // namespace torchmem
