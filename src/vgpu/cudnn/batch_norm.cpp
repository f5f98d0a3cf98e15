// Batch normalisation: workspace and reserve sizes; running it does nothing.
#include <cstdio>
#include <cstring>

#include "vgpu/cudnn/batch_norm_space.h"
#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/cudnn/workspace.h"
#include "vgpu/device/export.h"
#include "vgpu/workspaces/data_type.h"

namespace torchmem::vgpu {
namespace {

constexpr const char* operation_names[] = {"batch_norm_forward", "batch_norm_backward", "batch_norm_reserve"};

// Fused with an activation or an addition (`operations` not 0) it keeps a mask of unknown size.
cudnnStatus_t answer(BatchNormSpace space, int mode, int operations, cudnnTensorDescriptor_t x,
                     size_t* bytes) {
  const char* operation = operation_names[static_cast<int>(space)];
  if (!x || !bytes)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: the tensor or the size is null", operation);
  const TensorShape& shape = x->shape;
  LayoutFit fit = layout_fit(shape);
  char key[sizeof NamedFact::key];
  int at = snprintf(key, sizeof key, "%s mode=%d %s ", operation, mode, data_type_name(shape.type));
  for (int i = 0; i < shape.count; ++i)
    at += snprintf(key + at, sizeof key - static_cast<size_t>(at), "%s%lld", i ? "x" : "",
                   static_cast<long long>(shape.dims[i]));
  at += snprintf(key + at, sizeof key - static_cast<size_t>(at), " %s",
                 fit.nchw   ? "nchw"
                 : fit.nhwc ? "nhwc"
                            : "strided");
  if (operations) snprintf(key + at, sizeof key - static_cast<size_t>(at), " fused=%d", operations);
  WorkspaceSize otherwise;
  if (operations == 0) {
    std::optional<uint64_t> rule = batch_norm_space(space, mode, shape);
    otherwise = {rule.value_or(0), rule ? Knowledge::recorded : Knowledge::estimated};
  }
  Workspace workspace = named_workspace(operation, key, otherwise);
  count(workspace);
  *bytes = workspace.size.bytes;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t done(cudnnHandle_t handle, const char* function) {
  return handle ? CUDNN_STATUS_SUCCESS
                : fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: the handle is null", function);
}

}  // namespace

TMV_EXPORT cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, int mode, int operations, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnActivationDescriptor_t, size_t* bytes) {
  return answer(BatchNormSpace::forward, mode, operations, x, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, int mode, int operations, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnActivationDescriptor_t, size_t* bytes) {
  return answer(BatchNormSpace::backward, mode, operations, x, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t, int mode,
                                                                              int operations,
                                                                              cudnnActivationDescriptor_t,
                                                                              cudnnTensorDescriptor_t x,
                                                                              size_t* bytes) {
  return answer(BatchNormSpace::reserve, mode, operations, x, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, int, int, const void*, const void*, cudnnTensorDescriptor_t, const void*,
    cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t,
    const void*, const void*, double, void*, void*, double, void*, void*, cudnnActivationDescriptor_t, void*,
    size_t, void*, size_t) {
  return done(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, int, const void*,
                                                                 const void*, cudnnTensorDescriptor_t,
                                                                 const void*, cudnnTensorDescriptor_t, void*,
                                                                 cudnnTensorDescriptor_t, const void*,
                                                                 const void*, const void*, const void*,
                                                                 double) {
  return done(handle, __func__);
}

TMV_EXPORT cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, int, int, const void*, const void*, const void*, const void*,
    cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t,
    const void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t, void*, cudnnTensorDescriptor_t,
    const void*, const void*, void*, void*, double, const void*, const void*, cudnnActivationDescriptor_t,
    void*, size_t, void*, size_t) {
  return done(handle, __func__);
}

}  // namespace torchmem::vgpu
