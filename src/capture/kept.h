#pragma once

#include <ATen/record_function.h>

#include <memory>

#include "capture/owners.h"

namespace torchmem::capture {

// Which tensors autograd saves while a program's operators run, told to the owners, by who holds them: a
// tensor, or memory, that has more holders after the operator than before and than its results account for
// is kept by the operator's node. Of inputs, only those are looked at that lead to a backward (results of
// others that require a gradient). Hooks on saved tensors say the same, but they are the program's own.

// An operator or Python function begins (RecordFunction's scope FUNCTION): tells its inputs, and notes who
// holds them. Null where nothing can be saved.
std::unique_ptr<at::ObserverContext> begin_kept(const at::RecordFunction& fn, bool is_outermost,
                                                Owners& owners);

// It ends; `begun` is what it began with.
void end_kept(const at::RecordFunction& fn, const at::ObserverContext& begun, bool is_outermost,
              Owners& owners);

}  // namespace torchmem::capture
