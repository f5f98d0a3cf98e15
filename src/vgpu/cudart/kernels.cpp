// Kernels are registered, asked about and launched; none runs.
#include <cstring>

#include "core.h"
#include "export.h"
#include "result.h"

using torchmem::vgpu::result;

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local Configuration configuration;

cudaError_t launched(cudaStream_t stream) {
  tmv_launched(stream);
  return result(tmv_activate(tmv_current_device()));
}

// What a device runs of the code that PyTorch 2.11 for CUDA 13.0 was built with (torch.cuda.get_arch_list()):
// the newest of the device's generation that is not newer than the device. CUB ends with an error where it is
// none that it knows. On 7.0 there is none, and every launch fails on a real card; here the oldest runs.
int code_for(int capability) {
  constexpr int built_for[] = {75, 80, 86, 90, 100, 120};
  int code = built_for[0];
  for (int built : built_for)
    if (built / 10 == capability / 10 && built <= capability) code = built;
  return code;
}

cudaError_t occupancy(int* blocks, const void* function, int threads, size_t shared) {
  return result(tmv_occupancy(tmv_current_device(), tmv_kernel_name(function), threads, shared, blocks));
}

}  // namespace

// A module's handle: any pointer that is not null.
TMV_EXPORT void** __cudaRegisterFatBinary(void* binary) { return static_cast<void**>(binary); }

TMV_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

TMV_EXPORT void __cudaUnregisterFatBinary(void**) {}

TMV_EXPORT char __cudaInitModule(void**) { return 1; }

TMV_EXPORT void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, void*,
                                       void*, void*, void*, int*) {
  tmv_kernel_register(host_function, name);
}

TMV_EXPORT void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

// nvcc's launch code asks for a kernel's handle once, at its first launch.
TMV_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  tmv_kernel_first_launch(host_function);
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host_function));
  return cudaSuccess;
}

TMV_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  configuration = {grid, block, shared, static_cast<cudaStream_t>(stream)};
  return 0;
}

TMV_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}

TMV_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, size_t, cudaStream_t stream) {
  return launched(stream);
}

TMV_EXPORT cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t stream) {
  return launched(stream);
}

TMV_EXPORT cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, size_t,
                                                   cudaStream_t stream) {
  return launched(stream);
}

TMV_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* launch, const void*, void**) {
  return launch ? launched(launch->stream) : result(cudaErrorInvalidValue);
}

TMV_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (!attributes) return result(cudaErrorInvalidValue);
  int device = tmv_current_device();
  const char* name = tmv_kernel_name(function);
  auto property = [device](const char* key) {
    long long value = 0;
    tmv_property(device, key, &value, 1);
    return static_cast<int>(value);
  };
  std::memset(attributes, 0, sizeof *attributes);
  int code = code_for(property("major") * 10 + property("minor"));
  attributes->binaryVersion = code;
  attributes->ptxVersion = code;
  attributes->sharedSizeBytes = static_cast<size_t>(tmv_kernel_attribute(name, "shared", 0));
  attributes->constSizeBytes = static_cast<size_t>(tmv_kernel_attribute(name, "constant", 0));
  attributes->localSizeBytes = static_cast<size_t>(tmv_kernel_attribute(name, "local", 0));
  attributes->numRegs = static_cast<int>(tmv_kernel_attribute(name, "registers", 32));
  attributes->maxThreadsPerBlock =
      static_cast<int>(tmv_kernel_attribute(name, "max_threads", property("maxThreadsPerBlock")));
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(tmv_kernel_attribute(name, "max_dynamic_shared", property("sharedMemPerBlock")));
  attributes->preferredShmemCarveout = -1;
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                     int threads, size_t shared) {
  return occupancy(blocks, function, threads, shared);
}

TMV_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                              const void* function,
                                                                              int threads, size_t shared,
                                                                              unsigned) {
  return occupancy(blocks, function, threads, shared);
}
