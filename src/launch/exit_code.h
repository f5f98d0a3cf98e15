// How torchmem ends. "The answer is no" and "could not answer" are two things.
#pragma once

#include "torchmem/error.h"

namespace torchmem {

enum class ExitCode : int {
  yes = 0,          // done, and the answer is yes
  no = 1,           // done, and the answer is no: over budget, does not fit, out of memory
  could_not = 2,    // bad usage, bad file, the model failed
  unavailable = 3,  // this machine or build cannot
  interrupted = 130,
};

constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::out_of_memory:
      return ExitCode::no;
    case ErrorKind::unavailable:
      return ExitCode::unavailable;
    case ErrorKind::interrupted:
      return ExitCode::interrupted;
    default:
      return ExitCode::could_not;
  }
}

}  // namespace torchmem
