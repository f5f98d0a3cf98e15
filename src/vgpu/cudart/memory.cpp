#include <cstring>

#include "core.h"
#include "export.h"
#include "result.h"

using torchmem::vgpu::MemoryKind;
using torchmem::vgpu::PointerInfo;
using torchmem::vgpu::result;

namespace {

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

// A copy of `height` rows.
int copy_rows(cudaStream_t stream, void* to, size_t to_pitch, const void* from, size_t from_pitch,
              size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row) {
    int status = tmv_copy_on(stream, static_cast<char*>(to) + row * to_pitch,
                             static_cast<const char*>(from) + row * from_pitch, width);
    if (status) return status;
  }
  return cudaSuccess;
}

}  // namespace

TMV_EXPORT cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  uint64_t address = 0;
  int status = pointer ? tmv_malloc(tmv_current_device(), bytes, &address) : cudaErrorInvalidValue;
  if (pointer) *pointer = reinterpret_cast<void*>(address);
  return result(status);
}

TMV_EXPORT cudaError_t cudaFree(void* pointer) {
  if (!pointer) return result(tmv_activate(tmv_current_device()));
  return result(tmv_free(address_of(pointer)));
}

TMV_EXPORT cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  if (int status = tmv_activate(tmv_current_device())) return result(status);
  return result(tmv_mem_info(tmv_current_device(), free_bytes, total_bytes));
}

TMV_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (!attributes) return result(cudaErrorInvalidValue);
  PointerInfo info;
  tmv_pointer(address_of(pointer), &info);
  std::memset(attributes, 0, sizeof *attributes);
  attributes->device = info.device;
  bool known = info.kind != MemoryKind::unregistered;
  attributes->type = info.kind == MemoryKind::device ? cudaMemoryTypeDevice
                     : known                         ? cudaMemoryTypeHost
                                                     : cudaMemoryTypeUnregistered;
  attributes->devicePointer = known ? const_cast<void*>(pointer) : nullptr;
  attributes->hostPointer = info.kind == MemoryKind::device ? nullptr : const_cast<void*>(pointer);
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned) {
  return result(tmv_host_alloc(bytes, pointer));
}

TMV_EXPORT cudaError_t cudaFreeHost(void* pointer) { return result(tmv_host_free(pointer)); }

TMV_EXPORT cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return result(tmv_host_register(pointer, bytes));
}

TMV_EXPORT cudaError_t cudaHostUnregister(void* pointer) { return result(tmv_host_unregister(pointer)); }

TMV_EXPORT cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (int status = tmv_device_sync()) return result(status);
  return result(tmv_copy(to, from, bytes));
}

TMV_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                                       cudaStream_t stream) {
  return result(tmv_copy_on(stream, to, from, bytes));
}

TMV_EXPORT cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes,
                                           cudaStream_t stream) {
  return result(tmv_copy_on(stream, to, from, bytes));
}

TMV_EXPORT cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                         size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream) {
  return result(copy_rows(stream, to, to_pitch, from, from_pitch, width, height));
}

// A symbol is a variable of a kernel's module: it has no memory here, and nothing reads it.
TMV_EXPORT cudaError_t cudaMemcpyToSymbol(const void*, const void*, size_t, size_t, cudaMemcpyKind) {
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaMemset(void* pointer, int byte, size_t bytes) {
  if (int status = tmv_device_sync()) return result(status);
  return result(tmv_fill(address_of(pointer), byte, bytes));
}

TMV_EXPORT cudaError_t cudaMemsetAsync(void* pointer, int byte, size_t bytes, cudaStream_t stream) {
  return result(tmv_fill_on(stream, address_of(pointer), byte, bytes));
}
