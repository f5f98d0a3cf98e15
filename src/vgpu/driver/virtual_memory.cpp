// The virtual-memory API, which PyTorch's expandable segments are made of.
#include <cuda.h>

#include <cstring>

#include "core.h"
#include "export.h"

namespace {

CUresult status(int code) { return static_cast<CUresult>(code); }

}  // namespace

TMV_EXPORT CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                                  CUmemAllocationGranularity_flags) {
  if (!granularity || !properties) return CUDA_ERROR_INVALID_VALUE;
  *granularity = size_t{2} << 20;  // read off an H200, minimum and recommended alike
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr,
                                        unsigned long long) {
  uint64_t address = 0;
  int code = tmv_address_reserve(tmv_current_device(), bytes, alignment, &address);
  if (pointer) *pointer = address;
  return status(code);
}

TMV_EXPORT CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  return status(tmv_address_free(pointer, bytes));
}

TMV_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                                const CUmemAllocationProp* properties, unsigned long long) {
  if (!handle || !properties) return CUDA_ERROR_INVALID_VALUE;
  // The answer of a machine that is in no fabric; PyTorch then takes files.
  if (properties->requestedHandleTypes & CU_MEM_HANDLE_TYPE_FABRIC) return CUDA_ERROR_NOT_PERMITTED;
  uint64_t made = 0;
  int device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? properties->location.id
                                                                        : tmv_current_device();
  int code = tmv_physical_create(device, bytes, &made);
  *handle = made;
  return status(code);
}

TMV_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return status(tmv_physical_release(handle));
}

TMV_EXPORT CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t, CUmemGenericAllocationHandle handle,
                             unsigned long long) {
  return status(tmv_map(pointer, bytes, handle));
}

TMV_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  return status(tmv_unmap(pointer, bytes));
}

TMV_EXPORT CUresult cuMemSetAccess(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) {
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  uint64_t found = 0;
  int code = tmv_mapped_handle(reinterpret_cast<uint64_t>(pointer), &found);
  if (handle) *handle = found;
  return status(code);
}

TMV_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                           CUmemGenericAllocationHandle handle) {
  int device = 0;
  int code = tmv_physical_info(handle, &device, nullptr);
  if (!properties) return CUDA_ERROR_INVALID_VALUE;
  std::memset(properties, 0, sizeof *properties);
  properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties->location.id = device;
  return status(code);
}

// As a file; the fabric's handles, of several machines, are not there.
TMV_EXPORT CUresult cuMemExportToShareableHandle(void* exported, CUmemGenericAllocationHandle handle,
                                                 CUmemAllocationHandleType type, unsigned long long) {
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return status(tmv_physical_export(handle, static_cast<int*>(exported)));
}

TMV_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* exported,
                                                   CUmemAllocationHandleType type) {
  if (!handle) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  uint64_t made = 0;
  const int code = tmv_physical_import(static_cast<int>(reinterpret_cast<intptr_t>(exported)), &made);
  *handle = made;
  return status(code);
}
