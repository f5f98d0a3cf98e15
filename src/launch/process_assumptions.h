// What the processes of a program under `torchmem run` assumed, as the agent wrote it: V records of the event
// stream (torchmem/stream.h) in `assumptions-PID`, or in `stream-PID` where everything was recorded; and in
// `calls-PID` the virtual GPU itself, of the calls that it does not model, before the agent is there too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// The assumptions in such a text. A process may have died at any byte of it, or written it badly: lines that
// are no V record, and records that are not as they must be, are left out, and so are fields that nobody
// knows.
std::vector<AssumptionRecord> assumptions_in(std::string_view text);

// Of one process, whatever state its files are in. Nothing where it left none.
std::optional<std::vector<AssumptionRecord>> read_process_assumptions(const std::filesystem::path& directory,
                                                                      uint64_t pid);

}  // namespace torchmem
