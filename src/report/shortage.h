// PyTorch's words for an out-of-memory.
#pragma once

#include <string>

namespace torchmem {

// The message without the advice to try expandable segments against fragmentation, where what is reserved but
// unallocated is so little of the request (below a tenth) that there was none to speak of.
std::string without_vain_advice(const std::string& message);

}  // namespace torchmem
