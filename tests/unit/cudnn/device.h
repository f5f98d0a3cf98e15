#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What the device under the virtual cuDNN was told. The test program stands in for the device.
namespace device {

struct Workspace {
  std::string operation;
  std::string problem;
  uint64_t bytes;
  int how;  // 0 recorded, 1 estimated, 2 unknown
};

extern std::vector<Workspace> workspaces;
extern std::vector<std::string> modules;

inline void forget() {
  workspaces.clear();
  modules.clear();
}

}  // namespace device
