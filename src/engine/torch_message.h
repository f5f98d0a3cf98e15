#pragma once

#include <string>

namespace torchmem::engine {

// What a PyTorch exception's text says, for people: the message without C++ frames and interpreter
// tracebacks, and the innermost place of the traceback that is not in PyTorch's own modules (torch/nn and
// the like), else the innermost.
struct TorchMessage {
  std::string text;  // the first meaningful lines joined to one
  std::string file;  // empty if no place is named
  int line = 0;
  std::string code;  // that line of the source, trimmed; empty if not shown

  // "file:line: code", as far as it is known; empty if not.
  std::string place() const;
};

TorchMessage parse_torch_message(const std::string& what);

}  // namespace torchmem::engine
