#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/flat_hash_map.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "capture/stream_writer.h"
#include "torchmem/run.h"

namespace torchmem::capture {

// Whose the allocator's blocks are, told to the stream as it becomes known (records T and O).
//
// A block has one owner for its whole life, so it may be known late: a gradient is a temporary until it is
// found in `.grad`. Of several claims the strongest stands: parameters, buffers, gradients, optimizer state,
// inputs, outputs, activations, workspaces, in this order; of equal ones the first. A block that nobody
// claimed is a temporary if it was freed while the operator (outermost, or autograd node) ran that made it
// or that used it last, before the thread's next one, or by the exception that ended the run. Otherwise it
// is `other`.
//
// In a program of someone else's (`program`) nobody says what is a parameter or a gradient, and autograd's
// hooks are the program's own. There, parameters and buffers are what its modules hold, looked up when an
// operator uses a parameter and before Python ends; also a leaf that requires a gradient and is an
// operator's input, and one that is an operator's weight. A gradient is what AccumulateGrad was given or
// made and left behind; optimizer state is what an optimizer's step made and left behind. What autograd
// saves is seen by who holds it (kept.h); what was made outside backward and freed by a backward node was
// saved for it too. What is freed by an out-of-memory's exception is a temporary.
class Owners {
 public:
  Owners(StreamWriter& writer, bool program) : writer_(writer), program_(program) {}

  // From the allocator's trace, with the allocator's lock held. `event` is the index of the alloc event.
  void allocated(std::uint64_t address, std::uint64_t event);
  void freed(std::uint64_t address);

  // The inputs of an operator or autograd node that begins on this thread. Of a program, `weights` are those
  // that its schema calls so.
  void used(c10::ArrayRef<const c10::IValue> inputs, c10::ArrayRef<c10::IValue> weights = {});
  // Of a program: an outermost operator ends on this thread, whose results lead to a backward. What it made
  // and left behind beside them is kept for it.
  void left_behind(c10::ArrayRef<c10::IValue> results);
  // An allocation on this thread ran out of memory.
  void out_of_memory();
  // Autograd keeps the tensor for backward, on behalf of what runs on this thread.
  void saved(const at::Tensor& tensor);
  // The tensor is one of these; a tensor without memory on a device is nobody's.
  void claim(const at::Tensor& tensor, Category category, std::string_view name);
  // The memory of the tensor is that of several ones, which the name names; its shape is the whole's.
  void claim_whole(const at::Tensor& tensor, Category category, std::string_view name);
  // The memory at that address is a library's workspace. Null and memory that is not the allocator's are
  // passed over.
  void claim_workspace(const void* memory, std::string_view library);
  // Of a program: an optimizer's step ended on this thread, which began when `current_step` became `step`.
  void optimizer_step_ended(std::uint64_t step);
  // Of a program: Python is about to end. What is freed from now on was alive at the end.
  void program_ends();
  // At the end of the run: what is known of the blocks that nobody claimed and that are still alive.
  void finish();

 private:
  struct Live {
    std::uint64_t event = 0;
    std::uint64_t birth = 0;  // the step that made it
    std::uint64_t last_use = 0;
    bool born_in_backward = false;
    bool accumulated = false;         // made by AccumulateGrad or given to it
    bool is_weight = false;           // of an operator, and nobody said whose
    const void* looked_up = nullptr;  // the tensor: its memory may become a parameter's later
    TensorId tensor = no_tensor;
    Category category = Category::other;
  };

  void claim_as(const at::Tensor& tensor, Category category, std::string_view name, c10::IntArrayRef shape);
  Live* find(const at::Tensor& tensor);
  void use(const at::Tensor& tensor, std::uint64_t step, bool accumulates);
  // Of tensors that may be parameters: what Python knows of them. Not with the lock held.
  void look_up(c10::ArrayRef<const c10::IValue> inputs);
  void take_held(const at::Tensor& tensor, std::string_view category, std::string_view name);
  void settle(Live& live, Category category);
  TensorId describe(std::string_view name, const at::Tensor& tensor);
  TensorId intern(std::string_view name, std::string_view dtype, c10::IntArrayRef shape);
  void tell(const Live& live, Category category, StackId saved_by = no_stack);

  StreamWriter& writer_;
  const bool program_;
  std::mutex mutex_;
  bool has_ended_ = false;
  ska::flat_hash_map<std::uint64_t, Live> live_;  // by address
  std::unordered_map<std::string, TensorId> tensors_;
};

}  // namespace torchmem::capture
