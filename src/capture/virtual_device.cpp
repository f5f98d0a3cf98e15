#include "capture/virtual_device.h"

#include <dlfcn.h>

namespace torchmem::capture {
namespace {

template <class Function>
void look_up(Function*& pointer, const char* name) {
  pointer = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

VirtualDevice find() {
  VirtualDevice device;
  look_up(device.set_observer, "tmv_set_observer");
  look_up(device.written, "tmv_written");
  look_up(device.profile_json, "tmv_profile_json");
  return device;
}

}  // namespace

const VirtualDevice& virtual_device() {
  static const VirtualDevice device = find();
  return device;
}

}  // namespace torchmem::capture
