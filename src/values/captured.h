#pragma once

#include "values/call.h"

namespace torchmem::values {

// Notes a call in the graph that `stream` is captured into: it happens at each launch.
void capture_call(Call&& call, c10::ArrayRef<c10::IValue> outputs, void* stream, const Bounds& bounds);

}  // namespace torchmem::values
