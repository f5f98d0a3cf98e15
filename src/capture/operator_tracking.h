#pragma once

#include <cstdint>
#include <string>

namespace torchmem::capture {

class Owners;

// Where a thread is: the operators and autograd nodes open on it (through RecordFunction), and what the
// TorchScript interpreter says of module and source line. In backward there is no interpreter: a node has
// the module and line of the operator that made it.
//
// `install_operator_tracking` adds global callbacks once for the life of the process. With `owners`, each
// operator and node tells it of its inputs. With `program`, places are Python's where there is no
// TorchScript, and "Optimizer.step" of PyTorch's own optimizers is one operator.
void install_operator_tracking(Owners* owners, bool program);

// Whether the callbacks are left out, as if they had not been added. Called between operators.
void pause_operator_tracking(bool paused);

// From now on nobody is told of inputs.
void stop_operator_tracking();

// The outermost operator or node that is open on the calling thread, or else the last one that ended there:
// a number that no other one has; 0 before the first.
std::uint64_t current_step();

// One operator of that name is open on this thread until the end of the scope, as an optimizer's step is in
// PyTorch's profiler; the operators within are not seen. (They are small and many, and watching each would
// cost a real device's host more than the step itself can hide.)
class OperatorScope {
 public:
  explicit OperatorScope(const std::string& name);
  ~OperatorScope();
  OperatorScope(const OperatorScope&) = delete;
  OperatorScope& operator=(const OperatorScope&) = delete;

 private:
  bool was_enabled_;
};

// Whether what is open on this thread is autograd's work on a node, or on the one that puts a gradient into
// `.grad`.
bool is_in_backward();
bool is_accumulating();

}  // namespace torchmem::capture
