#pragma once

#include <string>

#include "capture/frame.h"

namespace torchmem::capture {

class ModuleScope;

// Where the code of a model or a program is: source frames, innermost first, and the module path ("" in a
// Python program).
struct Place {
  Stack source;
  std::string module;
};

// Where the calling thread is, from the TorchScript interpreter; where there is none, from Python if it is
// followed. Null where neither knows. One object a place, which lives for good.
const Place* find_place(const ModuleScope* scope);

// From now on places are Python's where there is no TorchScript.
void follow_python();
bool follows_python();

}  // namespace torchmem::capture
