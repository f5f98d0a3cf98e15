#pragma once

#include <torch/csrc/jit/api/module.h>

#include <functional>
#include <map>
#include <string>

namespace torchmem::engine {

// At which lines of a model ("file:line", as in its debug files) a value is read back from the device and
// what comes of it: a "loop", a "size", a "branch". Lines that decide nothing are not there. The answer is
// found when it is asked for, and is empty when the model is gone by then: nothing of it is kept alive, its
// constants in device memory least of all.
std::function<std::map<std::string, std::string>()> lines_that_decide(const torch::jit::Module& module);

}  // namespace torchmem::engine
