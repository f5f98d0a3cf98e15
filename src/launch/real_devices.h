// The GPUs that this machine really has, as its CUDA driver says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torchmem {

struct RealDevice {
  std::string name;
  uint64_t total_bytes = 0;
};

struct RealDevices {
  std::vector<RealDevice> devices;
  std::string why_none;  // when there are none: what the search met
};

// Asks the driver (libcuda.so.1) in a process of its own, so that whatever it does stays there.
RealDevices find_real_devices();

}  // namespace torchmem
