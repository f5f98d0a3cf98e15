#pragma once

// What this process tells the launcher (`torchmem run`), through the file of src/run/process_state.h. Nothing
// happens when the process was not started by it.
namespace torchmem::vgpu {

void process_uses_device(int device_count);
void process_counts_changed();

}  // namespace torchmem::vgpu
