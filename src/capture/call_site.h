#pragma once

#include <cstdint>
#include <string>

#include "capture/frame.h"
#include "capture/stream_writer.h"

namespace at {
struct RecordFunction;
}  // namespace at

namespace torchmem::capture {

class Owners;

/// Where a thread is: the operators and autograd nodes open on it (through RecordFunction), and what the
/// TorchScript interpreter says of module and source line. In backward there is no interpreter: a node has
/// the module and line of the operator that made it.
///
/// `install_operator_tracking` adds global callbacks once for the life of the process. With `writes`, each
/// operator whose schema says that it writes an argument reports that argument's device range to the virtual
/// GPU before it runs. With `owners`, each operator and node tells it of its inputs.
void install_operator_tracking(bool writes, Owners* owners);

/// The outermost operator or node that is open on the calling thread, or else the last one that ended there:
/// a number that no other one has; 0 before the first.
std::uint64_t current_step();

/// Forgets which operators made which nodes: for when no backward can follow any more.
void forget_creators();

/// Called when an operator ends on the calling thread; one callback for the process, null for none.
void set_operator_end_callback(void (*callback)());

/// The calling thread's stack, written to the stream at its first use and interned from then on.
StackId current_stack(StreamWriter& writer);

/// The innermost operator, module path and source line of the calling thread, each empty where unknown.
struct CallSite {
  std::string op;
  std::string module;
  std::string line;  // "file:line"
};
CallSite current_call_site();

}  // namespace torchmem::capture
