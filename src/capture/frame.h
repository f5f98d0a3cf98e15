#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchmem::capture {

// One frame of an event's stack, as a memory snapshot has it. Stacks are innermost first. Three kinds share
// the form:
// - an operator or autograd node: filename "<op>", line 0, name e.g. "aten::conv2d";
// - a module of the model: filename "<module>", line 0, name "layer1.0 (BasicBlock)", the path from the root
// module;
// - a line of the model's source: its file, line from 1, and the function's name.
struct Frame {
  std::string filename;
  std::uint64_t line = 0;
  std::string name;
};

inline constexpr const char* operator_file = "<op>";
inline constexpr const char* module_file = "<module>";

using Stack = std::vector<Frame>;

}  // namespace torchmem::capture
