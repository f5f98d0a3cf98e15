#pragma once

#include "values/observer.h"

namespace torchmem::capture {

/// What comes of the value that the host is just reading on this thread: "size", "loop", "branch", or "" where
/// nothing that memory depends on is known to.
const char* what_it_decides(const values::Reading& reading);

}  // namespace torchmem::capture
