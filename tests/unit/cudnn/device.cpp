#include "device.h"

#include <cstdio>

#include "vgpu/device/assumptions.h"
#include "vgpu/device/core.h"

namespace device {
std::vector<Workspace> workspaces;
std::vector<torchmem::vgpu::Load> loads;
std::string profile;
}  // namespace device

extern "C" {
void tmv_count_workspace(const char*, const char* operation, const char* problem, size_t bytes, int how) {
  device::workspaces.push_back({operation, problem, bytes, how});
}
void tmv_count_unmodelled(const char*, const char*) {}
int tmv_profile_json(char* buffer, size_t size) {
  if (device::profile.empty()) return 0;
  snprintf(buffer, size, "%s", device::profile.c_str());
  return static_cast<int>(device::profile.size()) + 1;
}
void tmv_loaded(torchmem::vgpu::Load what) { device::loads.push_back(what); }
int tmv_version(const char*) { return 13000; }
}
