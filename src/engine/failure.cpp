#include "engine/failure.h"

namespace torchmem::engine {

const char* word(FailureKind kind) {
  switch (kind) {
    case FailureKind::kBadModel:
      return "bad_model";
    case FailureKind::kBadInput:
      return "bad_input";
    case FailureKind::kModelFailed:
      return "model_failed";
    case FailureKind::kOutOfMemory:
      return "out_of_memory";
    case FailureKind::kUnavailable:
      return "unavailable";
    case FailureKind::kBadUsage:
      return "bad_usage";
    case FailureKind::kAssumedReads:
      return "assumed_reads";
    case FailureKind::kInternal:
      return "internal";
  }
  return "internal";
}

int exit_code(FailureKind kind) {
  if (kind == FailureKind::kOutOfMemory) return 1;
  return kind == FailureKind::kUnavailable ? 3 : 2;
}

}  // namespace torchmem::engine
