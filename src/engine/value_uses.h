#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <string>

namespace torchmem::engine {

/// At which lines of a model ("file:line", as in its debug files) a value is read back from the device and what
/// comes of it: a "loop", a "size", a "branch". Lines that decide nothing are not there.
std::map<std::string, std::string> lines_that_decide(const torch::jit::Module& module);

}  // namespace torchmem::engine
