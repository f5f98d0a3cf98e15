#pragma once

#include <functional>
#include <string>

#include "capture/frame.h"

namespace torchmem::capture {

// The Python frames of the calling thread, by CPython's own functions, found in the process by name (3.9 and
// later). Nothing is linked, so a process without Python has none.
//
// Appends to `key` what tells this place from others for the life of the process. `is_known` is then asked
// of the key, with the interpreter's lock held; unless it is, `frames` becomes the stack, innermost first,
// at most 64 of them. False when the thread runs no Python.
bool python_stack(std::string& key, const std::function<bool(const std::string&)>& is_known, Stack& frames);

}  // namespace torchmem::capture
