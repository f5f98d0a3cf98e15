#pragma once

namespace torchmem::vgpu {

// Tell the device when cuDNN loads kernels; it counts each event once a process. `operation` is a
// workspace's: only convolutions ("conv_...") are known to load anything.
void plan_sought(const char* operation);  // before the plan's workspace is asked for
void plan_executed(const char* operation);
void recurrent_network_set_up();

}  // namespace torchmem::vgpu
