#include "vgpu/cudnn/modules.h"

#include <atomic>
#include <cstring>

#include "vgpu/device/core.h"

namespace torchmem::vgpu {
namespace {

void once(std::atomic<bool>& loaded, const char* what) {
  if (!loaded.load(std::memory_order_relaxed) && !loaded.exchange(true)) tmv_module_loaded(what);
}

}  // namespace

void load_modules_for(const char* operation) {
  static std::atomic<bool> forward, backward;
  if (strncmp(operation, "conv_", 5) != 0) return;
  once(forward, "conv_forward");
  if (strncmp(operation, "conv_backward", 13) == 0) once(backward, "conv_backward");
}

}  // namespace torchmem::vgpu
