#define _GNU_SOURCE
#include "capture/workspaces.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions that take a workspace, declared as their public documentation has them; handles and
// descriptors are pointers.

// CUDNN_ATTR_VARIANT_PACK_WORKSPACE in cudnn_graph.h.
enum { variant_pack_workspace = 1003 };

#define TORCHMEM_EXPORT __attribute__((visibility("default")))

static torchmem_workspace_observer the_observer;

TORCHMEM_EXPORT void torchmem_observe_workspaces(torchmem_workspace_observer observer) {
  __atomic_store_n(&the_observer, observer, __ATOMIC_RELEASE);
}

static void workspace(const void* memory, const char* library) {
  torchmem_workspace_observer observer = __atomic_load_n(&the_observer, __ATOMIC_ACQUIRE);
  if (observer) observer(memory, library);
}

// The library's own function. PyTorch links it, so it is loaded; but a program may have loaded it locally,
// where it is only found by the library's name.
static void* behind(const char* name) {
  static const char* const libraries[][2] = {
      {"cublasLt", "libcublasLt.so." TORCHMEM_CUDA_MAJOR},
      {"cublas", "libcublas.so." TORCHMEM_CUDA_MAJOR},
      {"cudnn", "libcudnn.so.9"},
  };
  void* found = dlsym(RTLD_NEXT, name);
  for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries; ++i) {
    if (strncmp(name, libraries[i][0], strlen(libraries[i][0])) != 0) continue;
    void* library = dlopen(libraries[i][1], RTLD_NOW | RTLD_NOLOAD);
    if (library) found = dlsym(library, name);
  }
  if (!found) {
    fprintf(stderr, "error: no loaded library has %s\n", name);
    abort();
  }
  return found;
}

#define NEXT(name)                                                            \
  static __typeof__(name)* next_function;                                     \
  __typeof__(name)* next = __atomic_load_n(&next_function, __ATOMIC_RELAXED); \
  if (!next) {                                                                \
    next = (__typeof__(name)*)behind(#name);                                  \
    __atomic_store_n(&next_function, next, __ATOMIC_RELAXED);                 \
  }

TORCHMEM_EXPORT int cublasSetWorkspace_v2(void* handle, void* memory, size_t bytes) {
  NEXT(cublasSetWorkspace_v2);
  workspace(memory, "cuBLAS");
  return next(handle, memory, bytes);
}

TORCHMEM_EXPORT int cublasLtMatmul(void* handle, void* operation, const void* alpha, const void* a,
                                   void* a_layout, const void* b, void* b_layout, const void* beta,
                                   const void* c, void* c_layout, void* d, void* d_layout,
                                   const void* algorithm, void* memory, size_t bytes, void* stream) {
  NEXT(cublasLtMatmul);
  workspace(memory, "cuBLASLt");
  return next(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algorithm,
              memory, bytes, stream);
}

TORCHMEM_EXPORT int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, int64_t count,
                                             const void* values) {
  NEXT(cudnnBackendSetAttribute);
  if (attribute == variant_pack_workspace && count == 1 && values) {
    workspace(*(void* const*)values, "cuDNN");
  }
  return next(descriptor, attribute, type, count, values);
}

TORCHMEM_EXPORT int cudnnBatchNormalizationForwardTrainingEx(
    void* handle, int mode, int operation, const void* alpha, const void* beta, void* x_layout, const void* x,
    void* z_layout, const void* z, void* y_layout, void* y, void* scale_layout, const void* scale,
    const void* bias, double average_factor, void* running_mean, void* running_variance, double epsilon,
    void* saved_mean, void* saved_variance, void* activation, void* memory, size_t bytes, void* reserve,
    size_t reserve_bytes) {
  NEXT(cudnnBatchNormalizationForwardTrainingEx);
  workspace(memory, "cuDNN");
  return next(handle, mode, operation, alpha, beta, x_layout, x, z_layout, z, y_layout, y, scale_layout,
              scale, bias, average_factor, running_mean, running_variance, epsilon, saved_mean,
              saved_variance, activation, memory, bytes, reserve, reserve_bytes);
}

TORCHMEM_EXPORT int cudnnBatchNormalizationBackwardEx(
    void* handle, int mode, int operation, const void* alpha_data, const void* beta_data,
    const void* alpha_parameters, const void* beta_parameters, void* x_layout, const void* x, void* y_layout,
    const void* y, void* dy_layout, const void* dy, void* dz_layout, void* dz, void* dx_layout, void* dx,
    void* scale_layout, const void* scale, const void* bias, void* scale_gradient, void* bias_gradient,
    double epsilon, const void* saved_mean, const void* saved_variance, void* activation, void* memory,
    size_t bytes, void* reserve, size_t reserve_bytes) {
  NEXT(cudnnBatchNormalizationBackwardEx);
  workspace(memory, "cuDNN");
  return next(handle, mode, operation, alpha_data, beta_data, alpha_parameters, beta_parameters, x_layout, x,
              y_layout, y, dy_layout, dy, dz_layout, dz, dx_layout, dx, scale_layout, scale, bias,
              scale_gradient, bias_gradient, epsilon, saved_mean, saved_variance, activation, memory, bytes,
              reserve, reserve_bytes);
}

TORCHMEM_EXPORT int cudnnRNNForward(void* handle, void* network, int mode, const int32_t* lengths,
                                    void* x_layout, const void* x, void* y_layout, void* y, void* h_layout,
                                    const void* hx, void* hy, void* c_layout, const void* cx, void* cy,
                                    size_t weight_bytes, const void* weights, size_t bytes, void* memory,
                                    size_t reserve_bytes, void* reserve) {
  NEXT(cudnnRNNForward);
  workspace(memory, "cuDNN");
  return next(handle, network, mode, lengths, x_layout, x, y_layout, y, h_layout, hx, hy, c_layout, cx, cy,
              weight_bytes, weights, bytes, memory, reserve_bytes, reserve);
}

TORCHMEM_EXPORT int cudnnRNNBackwardData_v8(void* handle, void* network, const int32_t* lengths,
                                            void* y_layout, const void* y, const void* dy, void* x_layout,
                                            void* dx, void* h_layout, const void* hx, const void* dhy,
                                            void* dhx, void* c_layout, const void* cx, const void* dcy,
                                            void* dcx, size_t weight_bytes, const void* weights, size_t bytes,
                                            void* memory, size_t reserve_bytes, void* reserve) {
  NEXT(cudnnRNNBackwardData_v8);
  workspace(memory, "cuDNN");
  return next(handle, network, lengths, y_layout, y, dy, x_layout, dx, h_layout, hx, dhy, dhx, c_layout, cx,
              dcy, dcx, weight_bytes, weights, bytes, memory, reserve_bytes, reserve);
}

TORCHMEM_EXPORT int cudnnRNNBackwardWeights_v8(void* handle, void* network, int add, const int32_t* lengths,
                                               void* x_layout, const void* x, void* h_layout, const void* hx,
                                               void* y_layout, const void* y, size_t weight_bytes,
                                               void* weight_gradients, size_t bytes, void* memory,
                                               size_t reserve_bytes, void* reserve) {
  NEXT(cudnnRNNBackwardWeights_v8);
  workspace(memory, "cuDNN");
  return next(handle, network, add, lengths, x_layout, x, h_layout, hx, y_layout, y, weight_bytes,
              weight_gradients, bytes, memory, reserve_bytes, reserve);
}

TORCHMEM_EXPORT int cudnnSetDropoutDescriptor(void* descriptor, void* handle, float dropout, void* states,
                                              size_t bytes, unsigned long long seed) {
  NEXT(cudnnSetDropoutDescriptor);
  workspace(states, "cuDNN dropout states");
  return next(descriptor, handle, dropout, states, bytes, seed);
}
