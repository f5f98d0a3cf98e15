// Memory and events of another process.
#include "core.h"
#include "export.h"
#include "result.h"

using torchmem::vgpu::result;

static_assert(sizeof(cudaIpcMemHandle_t) == tmv_share_handle_bytes);

TMV_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return result(tmv_share(reinterpret_cast<uint64_t>(pointer), handle));
}

TMV_EXPORT cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned) {
  uint64_t address = 0;
  const int status = tmv_open_shared(&handle, &address);
  if (pointer) *pointer = reinterpret_cast<void*>(address);
  return result(pointer ? status : cudaErrorInvalidValue);
}

TMV_EXPORT cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return result(tmv_close_shared(reinterpret_cast<uint64_t>(pointer)));
}

// Work is done the moment it is given, in every process: an event of another one has nothing to wait for.
TMV_EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t) {
  if (!handle) return result(cudaErrorInvalidValue);
  *handle = {};
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t) {
  return result(tmv_event_create(cudaEventDisableTiming, reinterpret_cast<void**>(event)));
}
