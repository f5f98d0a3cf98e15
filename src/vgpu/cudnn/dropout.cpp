// Dropout descriptors and the size of their random states; CTC loss, whose workspace is not known.
#include <cstdio>

#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/cudnn/workspace.h"
#include "vgpu/device/export.h"
#include "vgpu/workspaces/data_type.h"

struct cudnnDropoutStruct {
  float probability = 0;
  void* states = nullptr;
  size_t bytes = 0;
};

namespace torchmem::vgpu {
namespace {

cudnnStatus_t set(cudnnDropoutDescriptor_t descriptor, float probability, void* states, size_t bytes) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "dropout: the descriptor is null");
  *descriptor = {probability, states, bytes};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t ctc_workspace(cudnnTensorDescriptor_t probabilities, int algorithm, size_t* bytes) {
  if (!probabilities || !bytes)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "CTC loss: a pointer is null");
  const TensorShape& shape = probabilities->shape;
  char key[sizeof NamedFact::key];
  snprintf(key, sizeof key, "ctc_loss algorithm=%d %s length=%lld batch=%lld classes=%lld", algorithm,
           data_type_name(shape.type), static_cast<long long>(shape.dims[0]),
           static_cast<long long>(shape.dims[1]), static_cast<long long>(shape.dims[2]));
  Workspace workspace = named_workspace("ctc_loss", key, {});
  count(workspace);
  *bytes = workspace.size.bytes;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t done(cudnnHandle_t handle, const char* function) {
  return handle ? CUDNN_STATUS_SUCCESS
                : fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: the handle is null", function);
}

}  // namespace

TMV_EXPORT cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* descriptor) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  *descriptor = new cudnnDropoutStruct;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t* bytes) {
  if (!bytes) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  Workspace workspace = named_workspace("dropout_states", "dropout_states", {});
  count(workspace);
  *bytes = workspace.size.bytes;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t descriptor, cudnnHandle_t,
                                                   float probability, void* states, size_t bytes,
                                                   unsigned long long) {
  return set(descriptor, probability, states, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnRestoreDropoutDescriptor(cudnnDropoutDescriptor_t descriptor, cudnnHandle_t,
                                                       float probability, void* states, size_t bytes,
                                                       unsigned long long) {
  return set(descriptor, probability, states, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t probabilities,
                                                      cudnnTensorDescriptor_t, const int*, const int*,
                                                      const int*, int algorithm, cudnnCTCLossDescriptor_t,
                                                      size_t* bytes) {
  return ctc_workspace(probabilities, algorithm, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnGetCTCLossWorkspaceSize_v8(cudnnHandle_t, int algorithm,
                                                         cudnnCTCLossDescriptor_t,
                                                         cudnnTensorDescriptor_t probabilities,
                                                         cudnnTensorDescriptor_t, size_t* bytes) {
  return ctc_workspace(probabilities, algorithm, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, cudnnTensorDescriptor_t, const void*, const int*,
                                      const int*, const int*, void*, cudnnTensorDescriptor_t, void*, int,
                                      cudnnCTCLossDescriptor_t, void*, size_t) {
  return done(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnCTCLoss_v8(cudnnHandle_t handle, int, cudnnCTCLossDescriptor_t,
                                         cudnnTensorDescriptor_t, const void*, const int*, const int*,
                                         const int*, void*, cudnnTensorDescriptor_t, void*, size_t, void*) {
  return done(handle, __func__);
}

}  // namespace torchmem::vgpu
