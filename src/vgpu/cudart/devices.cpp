// Devices, versions and limits. Real CUDA makes a device's context with cudaSetDevice and with the first call
// that needs one.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "core.h"
#include "export.h"
#include "result.h"

using torchmem::vgpu::result;

TMV_EXPORT cudaError_t cudaGetDeviceCount(int* count) {
  if (!count) return result(cudaErrorInvalidValue);
  *count = tmv_device_count();
  return result(*count > 0 ? cudaSuccess : cudaErrorNoDevice);
}

TMV_EXPORT cudaError_t cudaGetDevice(int* device) {
  if (!device) return result(cudaErrorInvalidValue);
  if (tmv_device_count() == 0) return result(cudaErrorNoDevice);
  *device = tmv_current_device();
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaSetDevice(int device) { return result(tmv_set_device(device)); }

TMV_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return result(tmv_attribute(device, attribute, value));
}

TMV_EXPORT cudaError_t cudaDeviceSynchronize() {
  if (int status = tmv_activate(tmv_current_device())) return result(status);
  int status = tmv_device_sync();
  if (status == torchmem::vgpu::success) tmv_host_waits_for_all();
  return result(status);
}

TMV_EXPORT cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!text || length < 13) return result(cudaErrorInvalidValue);
  if (device < 0 || device >= tmv_device_count()) return result(cudaErrorInvalidDevice);
  int domain = 0, bus = 0, slot = 0;
  tmv_pci(device, &domain, &bus, &slot);
  std::snprintf(text, static_cast<size_t>(length), "%04x:%02x:%02x.0", domain, bus, slot);
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  // Read off an H200; the same on every card since compute capability 7.
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return result(tmv_limit(tmv_current_device(), limit, value));
}

TMV_EXPORT cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return result(tmv_set_limit(tmv_current_device(), limit, value));
}

TMV_EXPORT cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!can) return result(cudaErrorInvalidValue);
  int count = tmv_device_count();
  if (device < 0 || device >= count || peer < 0 || peer >= count) return result(cudaErrorInvalidDevice);
  *can = device != peer;
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  return result(peer >= 0 && peer < tmv_device_count() && peer != tmv_current_device()
                    ? cudaSuccess
                    : cudaErrorInvalidDevice);
}

TMV_EXPORT cudaError_t cudaDriverGetVersion(int* version) {
  *version = tmv_version("driver");
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = tmv_version("runtime");
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaProfilerStart() { return result(cudaSuccess); }

TMV_EXPORT cudaError_t cudaProfilerStop() { return result(cudaSuccess); }

// The driver's functions by name: ours, which are loaded beside this library.
TMV_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                                        unsigned long long,
                                                        cudaDriverEntryPointQueryResult* found) {
  if (!symbol || !function) return result(cudaErrorInvalidValue);
  *function = dlsym(RTLD_DEFAULT, symbol);
  if (found) *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return result(cudaSuccess);
}
