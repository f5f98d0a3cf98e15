// Whose bytes are: what the stack that made a block says.
#pragma once

#include <string>
#include <vector>

#include "torchmem/run.h"

namespace torchmem {

// The parts of a stack that own bytes.
struct Owner {
  std::string op;  // the outermost operator ("aten::conv2d"), or the autograd node ("ConvolutionBackward0")
  std::string module;  // dotted path from the root, "" for the root itself or where unknown
  std::string module_type;
  std::string line;  // "file:line", the innermost frame that is not PyTorch's own; of a thread that only runs
                     // backward, "(backward)" with the autograd node's name, if that is known
};
Owner owner_of(const std::vector<Frame>& stack);

}  // namespace torchmem
