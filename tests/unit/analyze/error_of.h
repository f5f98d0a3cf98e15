#pragma once

#include <functional>
#include <string>

#include "torchmem/error.h"

namespace torchmem {

// The message of the Error that it throws; "" for none.
inline std::string error_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace torchmem
