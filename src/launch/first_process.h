// Torchmem as process 1 of a container, which has duties that no other process has.
#pragma once

#include <functional>

namespace torchmem {

// Where this is process 1, as in `docker run IMAGE torchmem ...`: runs `work` in a child, passes signals on
// to it and reaps every process whose parent has ended. Elsewhere it only calls `work`. Returns the exit
// code; of a child that a signal ended, 128 and its number.
int run_as_first_process(const std::function<int()>& work);

}  // namespace torchmem
