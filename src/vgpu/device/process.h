#pragma once

#include <cstdint>

// What this process tells the launcher (`torchmem run`), through the file of src/run/process_state.h. Nothing
// happens when the process was not started by it.
namespace torchmem::vgpu {

void process_uses_device(int device_count);
void process_counts_changed();
void process_allocated();  // device memory was given, by whatever call
// Of a device, what cudaMalloc gave and no allocator of PyTorch's holds: `settled` bytes until now, which
// count for the peak, and `now` from now on. A block is outside until PyTorch's allocator says that it is
// its.
void process_outside(int device, uint64_t settled, uint64_t now);
void process_pins(uint64_t bytes);
// The program asked for a device, and CUDA_VISIBLE_DEVICES leaves it none: a note, `hidden-<pid>`, has its
// value.
void process_has_no_device();
// A note of a call that is not modelled, in `calls-<pid>`: a V record of the event stream
// (torchmem/stream.h).
void process_called(const char* library, const char* function);

}  // namespace torchmem::vgpu
