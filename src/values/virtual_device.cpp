#include "values/virtual_device.h"

#include <dlfcn.h>

namespace torchmem::values {
namespace {

template <class Function>
void look_up(Function*& pointer, const char* name) {
  pointer = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

VirtualDevice find() {
  VirtualDevice device;
  look_up(device.set_observer, "tmv_set_observer");
  look_up(device.written, "tmv_written");
  look_up(device.peek, "tmv_value_peek");
  look_up(device.poke, "tmv_value_poke");
  look_up(device.repeat, "tmv_value_repeat");
  look_up(device.stand_in, "tmv_value_stand_in");
  look_up(device.keep_large, "tmv_keep_large_values");
  look_up(device.captures, "tmv_captures");
  look_up(device.is_captured, "tmv_is_captured");
  look_up(device.capture_work, "tmv_capture_work");
  look_up(device.profile_json, "tmv_profile_json");
  look_up(device.claimed, "tmv_claimed");
  return device;
}

}  // namespace

const VirtualDevice& virtual_device() {
  static const VirtualDevice device = find();
  return device;
}

}  // namespace torchmem::values
