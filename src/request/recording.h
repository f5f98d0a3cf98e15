#pragma once

namespace torchmem {

// How much is recorded: `owners` is everything; `events` leaves out stacks and whose the blocks are; `off`
// leaves only the phases and their statistics, to measure what recording costs.
enum class Recording { off, events, owners };

}  // namespace torchmem
