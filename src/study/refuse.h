// What a variant cannot do.
#pragma once

#include <string>

#include "torchmem/error.h"

namespace torchmem {

[[noreturn]] inline void refuse(const std::string& why) { throw Error(ErrorKind::bad_usage, why); }

}  // namespace torchmem
