#pragma once

#include <ATen/core/interned_strings.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace torchmem::engine {

// Activation checkpointing of a call of a TorchScript module, as torch.utils.checkpoint does it
// (use_reentrant=True): the forward runs without recording and keeps its inputs alone; backward runs it
// again with recording and goes back through that. The states of the CPU's generator and of the inputs'
// devices' are kept in forward (tensors on the CPU) and stand for the second run; so does autocast. Other
// than in Python, the module's parameters get their gradients also when none of its inputs requires one.
//
// The two operators take the module first: torchmem::checkpoint (attribute "name": the method; then its
// arguments) and torchmem::is_checkpointed (a bool: whether this very module was marked).
c10::Symbol checkpoint_symbol();
c10::Symbol is_checkpointed_symbol();

// Registers the operators, once a process.
void register_checkpoint_operators();

// Marks one module, called by that path. Modules of the same class stay as they are.
void mark_checkpointed(const c10::intrusive_ptr<c10::ivalue::Object>& module, const std::string& path);

}  // namespace torchmem::engine
