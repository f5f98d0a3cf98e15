// Modules compiled at run time (jiterator, TorchScript's fuser): loading, asking and launching succeed and do
// nothing.
#include <cuda.h>

#include "core.h"
#include "export.h"

namespace {

// Handles that are never followed.
template <class Handle>
Handle some_handle() {
  return reinterpret_cast<Handle>(static_cast<uintptr_t>(0x2000));
}

CUresult launched(CUstream stream) {
  tmv_loaded(torchmem::vgpu::Load::kernel);
  tmv_launched(stream);
  return CUDA_SUCCESS;
}

}  // namespace

TMV_EXPORT CUresult cuModuleLoad(CUmodule* module, const char*) {
  *module = some_handle<CUmodule>();
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void*) {
  *module = some_handle<CUmodule>();
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
  *module = some_handle<CUmodule>();
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }

TMV_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  *function = some_handle<CUfunction>();
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* state) {
  *state = some_handle<CUlinkState>();
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuLinkAddData_v2(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned,
                                     CUjit_option*, void**) {
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuLinkComplete(CUlinkState, void** binary, size_t* bytes) {
  static char empty[1] = {0};
  *binary = empty;
  *bytes = 0;
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  long long threads = 0;
  tmv_property(tmv_current_device(), "maxThreadsPerBlock", &threads, 1);
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? static_cast<int>(threads) : 0;
  return CUDA_SUCCESS;
}

TMV_EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }

TMV_EXPORT CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }

TMV_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                                size_t shared) {
  return static_cast<CUresult>(tmv_occupancy(tmv_current_device(), "", threads, shared, blocks));
}

TMV_EXPORT CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, CUstream stream, void**, void**) {
  return launched(stream);
}

TMV_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                              unsigned, unsigned, CUstream stream, void**) {
  return launched(stream);
}

TMV_EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                           const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                           const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return CUDA_SUCCESS;
}
