#include "engine/failure.h"

namespace torchmem::engine {

const char* word(FailureKind kind) {
  switch (kind) {
    case FailureKind::bad_model:
      return "bad_model";
    case FailureKind::bad_input:
      return "bad_input";
    case FailureKind::model_failed:
      return "model_failed";
    case FailureKind::out_of_memory:
      return "out_of_memory";
    case FailureKind::unavailable:
      return "unavailable";
    case FailureKind::bad_usage:
      return "bad_usage";
    case FailureKind::assumed_reads:
      return "assumed_reads";
    case FailureKind::internal:
      return "internal";
  }
  return "internal";
}

int exit_code(FailureKind kind) {
  if (kind == FailureKind::out_of_memory) return 1;
  return kind == FailureKind::unavailable ? 3 : 2;
}

}  // namespace torchmem::engine
