#pragma once

#include "capture/owners.h"

namespace torchmem::capture {

// From now on, every tensor that autograd saves for backward in this process is told to `owners`. Must be
// called before autograd is used first; the process keeps it for life.
//
// It is done as Python's saved-tensor hooks are, by an autograd engine of our own that makes hooks for every
// saved tensor. They keep what autograd would have kept, for as long; and, as hooks switch autograd's own
// check off, they refuse a tensor that was written to after it was saved, in autograd's words.
void hook_saved_tensors(Owners& owners);

// Whether autograd keeps what it saves by itself, without hooks. Called between operators.
void pause_saved_tensors(bool paused);

}  // namespace torchmem::capture
