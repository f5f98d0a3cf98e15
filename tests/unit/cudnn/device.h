#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/device/core.h"

// What the device under the virtual cuDNN was told. The test program stands in for the device.
namespace device {

struct Workspace {
  std::string operation;
  std::string problem;
  uint64_t bytes;
  int how;  // 0 recorded, 1 estimated, 2 unknown
};

extern std::vector<Workspace> workspaces;
extern std::vector<torchmem::vgpu::Load> loads;
extern std::string profile;  // JSON text; empty: there is none

inline void forget() {
  workspaces.clear();
  loads.clear();
}

}  // namespace device
