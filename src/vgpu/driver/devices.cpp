// The driver's devices, contexts and device memory ranges. One primary context a device; a context's handle
// names its device.
#include <cuda.h>

#include <cstring>

#include "core.h"
#include "export.h"

namespace {

CUcontext context_of(int device) {
  return reinterpret_cast<CUcontext>(static_cast<uintptr_t>(0x1000 + device));
}

int device_of(CUcontext context) { return static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 0x1000; }

CUresult status(int code) { return static_cast<CUresult>(code); }

struct ErrorName {
  CUresult error;
  const char* name;
  const char* text;
};

constexpr ErrorName names[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_ALREADY_MAPPED, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    {CUDA_ERROR_NOT_MAPPED, "CUDA_ERROR_NOT_MAPPED", "resource not mapped"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

const ErrorName* find(CUresult error) {
  for (const ErrorName& name : names)
    if (name.error == error) return &name;
  return nullptr;
}

}  // namespace

TMV_EXPORT CUresult cuInit(unsigned) {
  return status(tmv_device_count() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE);
}

TMV_EXPORT CUresult cuDriverGetVersion(int* version) {
  *version = tmv_version("driver");
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  const ErrorName* name = find(error);
  *text = name ? name->text : nullptr;
  return name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

TMV_EXPORT CUresult cuGetErrorName(CUresult error, const char** text) {
  const ErrorName* name = find(error);
  *text = name ? name->name : nullptr;
  return name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

TMV_EXPORT CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (ordinal < 0 || ordinal >= tmv_device_count()) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuDeviceGetCount(int* count) {
  *count = tmv_device_count();
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return status(tmv_attribute(device, attribute, value));
}

TMV_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (device < 0 || device >= tmv_device_count()) return CUDA_ERROR_INVALID_DEVICE;
  if (flags) *flags = 0;
  if (active) *active = tmv_context_active(device);
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  int code = tmv_activate(device);
  *context = code ? nullptr : context_of(device);
  return status(code);
}

TMV_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  int device = tmv_current_device();
  *context = tmv_context_active(device) ? context_of(device) : nullptr;
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  return context ? status(tmv_set_device(device_of(context))) : CUDA_SUCCESS;
}

namespace {
// The devices whose contexts lie below the current one, the last pushed last. Nothing that has to be
// destroyed: a thread may end after this library is gone.
constexpr int most_pushed = 64;
thread_local int below[most_pushed];
thread_local int pushed = 0;

}  // namespace

TMV_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  if (pushed == most_pushed) return CUDA_ERROR_OUT_OF_MEMORY;
  int device = tmv_current_device();
  int code = tmv_set_device(device_of(context));
  if (code == torchmem::vgpu::success) below[pushed++] = device;
  return status(code);
}

TMV_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (context) *context = context_of(tmv_current_device());
  // The runtime's own context is never popped.
  return pushed > 0 ? status(tmv_set_device(below[--pushed])) : CUDA_SUCCESS;
}

// The names without a version are what cudaGetDriverEntryPoint is asked for.
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
TMV_EXPORT CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

TMV_EXPORT CUresult cuCtxPopCurrent(CUcontext* context) { return cuCtxPopCurrent_v2(context); }

TMV_EXPORT CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  torchmem::vgpu::PointerInfo info;
  tmv_pointer(pointer, &info);
  if (info.kind == torchmem::vgpu::MemoryKind::unregistered) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = context_of(info.device);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          info.kind == torchmem::vgpu::MemoryKind::device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(value) = info.identity;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = info.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = info.base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = info.bytes;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

TMV_EXPORT CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned value, size_t count, CUstream stream) {
  tmv_launched(stream);
  unsigned first = value & 0xff;
  if (value == first * 0x01010101u)
    return status(tmv_fill(pointer, static_cast<int>(first), count * sizeof value));
  for (size_t i = 0; i < count; ++i)
    if (int code = tmv_copy(reinterpret_cast<void*>(pointer + i * sizeof value), &value, sizeof value))
      return status(code);
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr pointer, cuuint32_t value,
                                            unsigned) {
  tmv_launched(stream);
  return status(tmv_copy(reinterpret_cast<void*>(pointer), &value, sizeof value));
}

#undef cuStreamWriteValue32
TMV_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr pointer, cuuint32_t value,
                                         unsigned flags) {
  return cuStreamWriteValue32_v2(stream, pointer, value, flags);
}
