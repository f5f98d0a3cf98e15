#pragma once

namespace torchmem::vgpu {

// Tells the device, once a process, that cuDNN's kernels for this operation were loaded: "conv_forward" at
// the first convolution, "conv_backward" at the first backward one. Other operations load nothing that was
// measured.
void load_modules_for(const char* operation);

}  // namespace torchmem::vgpu
