#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

namespace torchmem::capture {

// Told of a tensor that a Python program holds: its category ("parameters", "buffers", "temporaries") and
// its name, "" where it has none. Called with the interpreter's lock held.
using TakeHeld = std::function<void(const at::Tensor&, std::string_view category, std::string_view name)>;

// If the tensor is a parameter of Python's: the parameters and buffers of every module that is alive, unless
// they were looked up a moment ago, and the tensor itself. Nothing where the calling thread runs no Python.
void held_beside(const at::Tensor& tensor, const TakeHeld& take);

// Calls `function` when Python is about to end, while what the program holds is still there. For any thread;
// the interpreter's lock need not be held. Nothing where there is no Python.
void call_at_python_exit(void (*function)());

// To be called then: the parameters and buffers of every module, and, of a program that ran out of memory,
// what the call of a module held that the exception came from ("temporaries").
void held_at_exit(const TakeHeld& take);

}  // namespace torchmem::capture
