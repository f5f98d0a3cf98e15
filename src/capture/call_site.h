#pragma once

#include <string>

#include "capture/frame.h"
#include "capture/stream_writer.h"

namespace torchmem::capture {

// The calling thread's stack (operators and autograd nodes, module, source lines), written to the stream at
// its first use and interned from then on.
StackId current_stack(StreamWriter& writer);

// The innermost operator, module path and source line of the calling thread, each empty where unknown.
struct CallSite {
  std::string op;
  std::string module;
  std::string line;  // "file:line"
};
CallSite current_call_site();

}  // namespace torchmem::capture
