// Handles, versions, and descriptors that this library need only keep alive.
#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/cudnn/workspace.h"
#include "vgpu/device/core.h"
#include "vgpu/device/export.h"

namespace torchmem::vgpu {
namespace {

// A descriptor whose contents no answer depends on.
struct Opaque {};

template <typename Pointer>
cudnnStatus_t create(Pointer* descriptor, const char* function) {
  if (!descriptor)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: the descriptor's address is null", function);
  *descriptor = reinterpret_cast<Pointer>(new Opaque);
  return CUDNN_STATUS_SUCCESS;
}

template <typename Pointer>
cudnnStatus_t destroy(Pointer descriptor) {
  delete reinterpret_cast<Opaque*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t not_null(const void* pointer, const char* function) {
  return pointer ? CUDNN_STATUS_SUCCESS : fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", function);
}

}  // namespace

TMV_EXPORT cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (cudnnStatus_t status = not_null(handle, __func__)) return status;
  if (!cudnn_facts().is_open())
    return fail(
        CUDNN_STATUS_NOT_INITIALIZED,
        "cudnnCreate: the facts that cuDNN's answers come from were not found in the folder 'facts' beside "
        "this library");
  *handle = new cudnnContext;
  tmv_loaded(Load::cudnn_handle);
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, void* stream) {
  if (cudnnStatus_t status = not_null(handle, __func__)) return status;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, void** stream) {
  if (cudnnStatus_t status = not_null(handle ? stream : nullptr, __func__)) return status;
  *stream = handle->stream;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT size_t cudnnGetVersion() { return cudnn_facts().cudnn_version(); }

TMV_EXPORT size_t cudnnGetCudartVersion() { return static_cast<size_t>(tmv_version("runtime")); }

TMV_EXPORT cudnnStatus_t cudnnGetProperty(int property, int* value) {
  if (cudnnStatus_t status = not_null(value, __func__)) return status;
  auto version = static_cast<int>(cudnnGetVersion());
  switch (property) {
    case 0:
      *value = version / 10000;
      return CUDNN_STATUS_SUCCESS;
    case 1:
      *value = version / 100 % 100;
      return CUDNN_STATUS_SUCCESS;
    case 2:
      *value = version % 100;
      return CUDNN_STATUS_SUCCESS;
    default:
      return fail(CUDNN_STATUS_BAD_PARAM, "cudnnGetProperty: property %d, expected 0, 1 or 2", property);
  }
}

TMV_EXPORT cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* descriptor) {
  return create(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t descriptor) {
  return destroy(descriptor);
}

TMV_EXPORT cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t descriptor, int, int, int, int,
                                                     int, int, int, int) {
  return not_null(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, cudnnPoolingDescriptor_t, const void*,
                                             cudnnTensorDescriptor_t, const void*, const void*,
                                             cudnnTensorDescriptor_t, void*) {
  return not_null(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnCreateActivationDescriptor(cudnnActivationDescriptor_t* descriptor) {
  return create(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnDestroyActivationDescriptor(cudnnActivationDescriptor_t descriptor) {
  return destroy(descriptor);
}

TMV_EXPORT cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t descriptor, int, int,
                                                      double) {
  return not_null(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t
cudnnCreateSpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t* descriptor) {
  return create(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t
cudnnDestroySpatialTransformerDescriptor(cudnnSpatialTransformerDescriptor_t descriptor) {
  return destroy(descriptor);
}

TMV_EXPORT cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(
    cudnnSpatialTransformerDescriptor_t descriptor, int, int, int, const int*) {
  return not_null(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnSpatialTfGridGeneratorForward(cudnnHandle_t handle,
                                                            cudnnSpatialTransformerDescriptor_t, const void*,
                                                            void*) {
  return not_null(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnSpatialTfGridGeneratorBackward(cudnnHandle_t handle,
                                                             cudnnSpatialTransformerDescriptor_t, const void*,
                                                             void*) {
  return not_null(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle,
                                                      cudnnSpatialTransformerDescriptor_t, const void*,
                                                      cudnnTensorDescriptor_t, const void*, const void*,
                                                      const void*, cudnnTensorDescriptor_t, void*) {
  return not_null(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnSpatialTfSamplerBackward(cudnnHandle_t handle,
                                                       cudnnSpatialTransformerDescriptor_t, const void*,
                                                       cudnnTensorDescriptor_t, const void*, const void*,
                                                       cudnnTensorDescriptor_t, void*, const void*,
                                                       cudnnTensorDescriptor_t, const void*, const void*,
                                                       const void*, void*) {
  return not_null(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnCreateCTCLossDescriptor(cudnnCTCLossDescriptor_t* descriptor) {
  return create(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnDestroyCTCLossDescriptor(cudnnCTCLossDescriptor_t descriptor) {
  return destroy(descriptor);
}

TMV_EXPORT cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t descriptor, int, int, int) {
  return not_null(descriptor, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnSetCTCLossDescriptor_v9(cudnnCTCLossDescriptor_t descriptor, int, int, int,
                                                      int) {
  return not_null(descriptor, __func__);
}

}  // namespace torchmem::vgpu
