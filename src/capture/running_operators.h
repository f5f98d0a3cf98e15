#pragma once

#include <string>
#include <vector>

namespace torchmem::capture {

// The operators that are running on the calling thread, outermost first, by the functions on its stack; for
// those that began before anybody could be told of it. Only what libtorch itself calls is seen
// ("aten::..."), and it takes milliseconds.
std::vector<std::string> running_operators();

}  // namespace torchmem::capture
