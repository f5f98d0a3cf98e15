#pragma once

#include <string>

namespace torchmem::engine {

/// What a PyTorch exception's text says, for people: the message without C++ frames and interpreter tracebacks, and the last place in
/// the model's source that the traceback names.
struct TorchMessage {
  std::string text;  // the first meaningful lines, no trailing newline
  std::string file;  // empty if no place is named
  int line = 0;
  std::string code;  // that line of the source, trimmed; empty if not shown

  /// "file:line: code", as far as it is known; empty if not.
  std::string place() const;
};

TorchMessage parse_torch_message(const std::string& what);

}  // namespace torchmem::engine
