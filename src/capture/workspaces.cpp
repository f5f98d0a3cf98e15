// The functions of cuBLAS, cuBLASLt and cuDNN that take a workspace, each passing on to the library's own.
// Declared as their public documentation has them; handles and descriptors are pointers.

#include "capture/workspaces.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace torchmem::capture {
namespace {

std::atomic<Owners*> the_owners{nullptr};

void workspace(const void* memory, const char* library) {
  if (auto* owners = the_owners.load(std::memory_order_relaxed)) owners->claim_workspace(memory, library);
}

/// The library's function of that name. PyTorch links it, so it is there.
template <class Function>
Function* behind(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "error: no loaded library has %s\n", name);
    std::abort();
  }
  return reinterpret_cast<Function*>(found);
}

/// CUDNN_ATTR_VARIANT_PACK_WORKSPACE in cudnn_graph.h.
constexpr int kVariantPackWorkspace = 1003;

}  // namespace

void watch_workspaces(Owners& owners) { the_owners = &owners; }

}  // namespace torchmem::capture

#define TORCHMEM_EXPORT extern "C" __attribute__((visibility("default")))

using torchmem::capture::behind;
using torchmem::capture::workspace;

TORCHMEM_EXPORT int cublasSetWorkspace_v2(void* handle, void* memory, std::size_t bytes) {
  static auto* const next = behind<decltype(cublasSetWorkspace_v2)>("cublasSetWorkspace_v2");
  workspace(memory, "cuBLAS");
  return next(handle, memory, bytes);
}

TORCHMEM_EXPORT int cublasLtMatmul(void* handle, void* operation, const void* alpha, const void* a,
                                   void* a_layout, const void* b, void* b_layout, const void* beta,
                                   const void* c, void* c_layout, void* d, void* d_layout,
                                   const void* algorithm, void* memory, std::size_t bytes, void* stream) {
  static auto* const next = behind<decltype(cublasLtMatmul)>("cublasLtMatmul");
  workspace(memory, "cuBLASLt");
  return next(handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d, d_layout, algorithm,
              memory, bytes, stream);
}

TORCHMEM_EXPORT int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, std::int64_t count,
                                             const void* values) {
  static auto* const next = behind<decltype(cudnnBackendSetAttribute)>("cudnnBackendSetAttribute");
  if (attribute == torchmem::capture::kVariantPackWorkspace && count == 1 && values != nullptr) {
    workspace(*static_cast<void* const*>(values), "cuDNN");
  }
  return next(descriptor, attribute, type, count, values);
}

TORCHMEM_EXPORT int cudnnBatchNormalizationForwardTrainingEx(
    void* handle, int mode, int operation, const void* alpha, const void* beta, void* x_layout, const void* x,
    void* z_layout, const void* z, void* y_layout, void* y, void* scale_layout, const void* scale,
    const void* bias, double average_factor, void* running_mean, void* running_variance, double epsilon,
    void* saved_mean, void* saved_variance, void* activation, void* memory, std::size_t bytes, void* reserve,
    std::size_t reserve_bytes) {
  static auto* const next =
      behind<decltype(cudnnBatchNormalizationForwardTrainingEx)>("cudnnBatchNormalizationForwardTrainingEx");
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
    std::size_t bytes, void* reserve, std::size_t reserve_bytes) {
  static auto* const next =
      behind<decltype(cudnnBatchNormalizationBackwardEx)>("cudnnBatchNormalizationBackwardEx");
  workspace(memory, "cuDNN");
  return next(handle, mode, operation, alpha_data, beta_data, alpha_parameters, beta_parameters, x_layout, x,
              y_layout, y, dy_layout, dy, dz_layout, dz, dx_layout, dx, scale_layout, scale, bias,
              scale_gradient, bias_gradient, epsilon, saved_mean, saved_variance, activation, memory, bytes,
              reserve, reserve_bytes);
}

TORCHMEM_EXPORT int cudnnRNNForward(void* handle, void* network, int mode, const std::int32_t* lengths,
                                    void* x_layout, const void* x, void* y_layout, void* y, void* h_layout,
                                    const void* hx, void* hy, void* c_layout, const void* cx, void* cy,
                                    std::size_t weight_bytes, const void* weights, std::size_t bytes,
                                    void* memory, std::size_t reserve_bytes, void* reserve) {
  static auto* const next = behind<decltype(cudnnRNNForward)>("cudnnRNNForward");
  workspace(memory, "cuDNN");
  return next(handle, network, mode, lengths, x_layout, x, y_layout, y, h_layout, hx, hy, c_layout, cx, cy,
              weight_bytes, weights, bytes, memory, reserve_bytes, reserve);
}

TORCHMEM_EXPORT int cudnnRNNBackwardData_v8(void* handle, void* network, const std::int32_t* lengths,
                                            void* y_layout, const void* y, const void* dy, void* x_layout,
                                            void* dx, void* h_layout, const void* hx, const void* dhy,
                                            void* dhx, void* c_layout, const void* cx, const void* dcy,
                                            void* dcx, std::size_t weight_bytes, const void* weights,
                                            std::size_t bytes, void* memory, std::size_t reserve_bytes,
                                            void* reserve) {
  static auto* const next = behind<decltype(cudnnRNNBackwardData_v8)>("cudnnRNNBackwardData_v8");
  workspace(memory, "cuDNN");
  return next(handle, network, lengths, y_layout, y, dy, x_layout, dx, h_layout, hx, dhy, dhx, c_layout, cx,
              dcy, dcx, weight_bytes, weights, bytes, memory, reserve_bytes, reserve);
}

TORCHMEM_EXPORT int cudnnRNNBackwardWeights_v8(void* handle, void* network, int add,
                                               const std::int32_t* lengths, void* x_layout, const void* x,
                                               void* h_layout, const void* hx, void* y_layout, const void* y,
                                               std::size_t weight_bytes, void* weight_gradients,
                                               std::size_t bytes, void* memory, std::size_t reserve_bytes,
                                               void* reserve) {
  static auto* const next = behind<decltype(cudnnRNNBackwardWeights_v8)>("cudnnRNNBackwardWeights_v8");
  workspace(memory, "cuDNN");
  return next(handle, network, add, lengths, x_layout, x, h_layout, hx, y_layout, y, weight_bytes,
              weight_gradients, bytes, memory, reserve_bytes, reserve);
}

TORCHMEM_EXPORT int cudnnSetDropoutDescriptor(void* descriptor, void* handle, float dropout, void* states,
                                              std::size_t bytes, unsigned long long seed) {
  static auto* const next = behind<decltype(cudnnSetDropoutDescriptor)>("cudnnSetDropoutDescriptor");
  workspace(states, "cuDNN dropout states");
  return next(descriptor, handle, dropout, states, bytes, seed);
}
