#pragma once

#include "values/call.h"

namespace torchmem::values {

// Operators that write the elements of their first argument that others name (scatter_, index_put_), on
// memory of which not all is known, as torch.empty gives it. They are computed twice, with different numbers
// where nothing is known: what comes out the same is what they wrote, or was known before.

// False where that cannot be told: another argument is not known, or there are too many elements.
bool begin_partial_write(Call& call, c10::ArrayRef<const c10::IValue> inputs, const Bounds& bounds);
void end_partial_write(Call& call);

}  // namespace torchmem::values
