#include "device.h"

#include "vgpu/device/core.h"
#include "vgpu/device/fidelity.h"

namespace device {
std::vector<Workspace> workspaces;
std::vector<torchmem::vgpu::Load> loads;
}  // namespace device

extern "C" {
void tmv_count_workspace(const char*, const char* operation, const char* problem, size_t bytes, int how) {
  device::workspaces.push_back({operation, problem, bytes, how});
}
void tmv_count_unmodelled(const char*, const char*) {}
int tmv_profile_json(char*, size_t) { return 0; }
void tmv_loaded(torchmem::vgpu::Load what) { device::loads.push_back(what); }
int tmv_version(const char*) { return 13000; }
}
