#include "core.h"
#include "export.h"
#include "result.h"

namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct ErrorName {
  cudaError_t error;
  const char* name;
  const char* text;  // the runtime's documented description
};

constexpr ErrorName names[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState",
     "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
     "peer access is already enabled"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
};

const ErrorName* find(cudaError_t error) {
  for (const ErrorName& name : names)
    if (name.error == error) return &name;
  return nullptr;
}

}  // namespace

namespace torchmem::vgpu {

cudaError_t result(int status) {
  auto error = static_cast<cudaError_t>(status);
  // "Not ready" is an answer, not a failure.
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

}  // namespace torchmem::vgpu

TMV_EXPORT cudaError_t cudaGetLastError() {
  cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

TMV_EXPORT cudaError_t cudaPeekAtLastError() { return last_error; }

TMV_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  const ErrorName* name = find(error);
  return name ? name->name : "cudaErrorUnknown";
}

TMV_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const ErrorName* name = find(error);
  return name ? name->text : "unrecognized error code";
}
