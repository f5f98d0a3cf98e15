// Host memory that CUDA knows of, and copies. See contents.h for what a copy keeps.
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "device.h"
#include "export.h"
#include "fidelity.h"

using namespace torchmem::vgpu;

namespace {

constexpr size_t host_alignment = 4096;

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

TMV_EXPORT int tmv_host_alloc(size_t bytes, void** pointer) {
  if (!pointer) return kInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return kSuccess;
  if (posix_memalign(pointer, host_alignment, bytes) != 0) return kOutOfMemory;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  all.host[number(*pointer)] = bytes;
  return kSuccess;
}

TMV_EXPORT int tmv_host_free(void* pointer) {
  if (!pointer) return kSuccess;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.host.find(number(pointer));
  if (found == all.host.end() || all.registered.count(number(pointer))) return kInvalidValue;
  all.host.erase(found);
  std::free(pointer);
  return kSuccess;
}

TMV_EXPORT int tmv_host_register(void* pointer, size_t bytes) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  if (!pointer || bytes == 0) return kInvalidValue;
  if (!all.host.emplace(number(pointer), bytes).second) return kHostMemoryAlreadyRegistered;
  all.registered[number(pointer)] = bytes;
  return kSuccess;
}

TMV_EXPORT int tmv_host_unregister(void* pointer) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  if (all.registered.erase(number(pointer)) == 0) return kHostMemoryNotRegistered;
  all.host.erase(number(pointer));
  return kSuccess;
}

TMV_EXPORT int tmv_copy(void* destination, const void* source, size_t bytes) {
  if (bytes == 0) return kSuccess;
  State& all = state();
  size_t assumed = 0;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    bool to_device = device_of(all, number(destination)) >= 0;
    bool from_device = device_of(all, number(source)) >= 0;
    if (to_device && from_device)
      all.contents.copy(number(destination), number(source), bytes);
    else if (to_device)
      all.contents.write(number(destination), source, bytes);
    else if (from_device)
      assumed = all.contents.read(number(source), destination, bytes);
    else
      std::memmove(destination, source, bytes);
  }
  if (assumed > 0) tmv_count_value(number(source), assumed);
  return kSuccess;
}

TMV_EXPORT int tmv_fill(uint64_t address, int byte, size_t bytes) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  if (device_of(all, address) >= 0)
    all.contents.fill(address, static_cast<unsigned char>(byte), bytes);
  else
    std::memset(reinterpret_cast<void*>(address), byte, bytes);
  return kSuccess;
}

TMV_EXPORT void tmv_written(uint64_t address, size_t bytes) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  all.contents.forget(address, bytes);
}
