// The older convolution interface (TORCH_CUDNN_V8_API_DISABLED=1): one algorithm for each operation, with the
// workspace that the graph interface would take. Running it does nothing.
#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/modules.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/cudnn/workspace.h"
#include "vgpu/device/export.h"

namespace torchmem::vgpu {
namespace {

using Operation = ConvolutionOperation;

// The algorithm that is offered: implicit precomputed GEMM, and algorithm 1 in both backward operations.
constexpr int algorithm = 1;

cudnnStatus_t find(Operation operation, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                   cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t convolution,
                   Workspace& workspace) {
  ConvolutionProblem problem;
  if (!x || !w || !y || !convolution)
    return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "convolution: a descriptor is null");
  if (!make_convolution(operation, x->shape, w->shape, y->shape, convolution->padding, convolution->stride,
                        convolution->dilation, problem))
    return fail(CUDNN_STATUS_NOT_SUPPORTED,
                "convolution: input of %d dimensions, expected 4 or 5 that fit the filter", x->shape.count);
  workspace = convolution_workspace(problem);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t list(Operation operation, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                   cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t convolution, int requested,
                   int* returned, cudnnConvolutionAlgoPerf_t* results) {
  if (!returned || !results || requested < 1)
    return fail(CUDNN_STATUS_BAD_PARAM, "convolution: no room for an algorithm");
  Workspace workspace;
  if (cudnnStatus_t status = find(operation, x, w, y, convolution, workspace)) return status;
  results[0] = {algorithm, CUDNN_STATUS_SUCCESS, 1, workspace.size.bytes, 1, 0, {}};
  *returned = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t measure(Operation operation, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                      cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t convolution, size_t* bytes) {
  if (!bytes) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "convolution: the size is null");
  Workspace workspace;
  if (cudnnStatus_t status = find(operation, x, w, y, convolution, workspace)) return status;
  *bytes = workspace.size.bytes;
  plan_sought(workspace.operation);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t execute(cudnnHandle_t handle, Operation operation, cudnnTensorDescriptor_t x,
                      cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
                      cudnnConvolutionDescriptor_t convolution) {
  if (!handle) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "convolution: the handle is null");
  Workspace workspace;
  if (cudnnStatus_t status = find(operation, x, w, y, convolution, workspace)) return status;
  count(workspace);
  plan_executed(workspace.operation);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

TMV_EXPORT cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* descriptor) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  *descriptor = new cudnnConvolutionStruct;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t descriptor,
                                                         int dimensions, const int* padding,
                                                         const int* stride, const int* dilation, int,
                                                         cudnnDataType_t) {
  if (!descriptor || !padding || !stride || !dilation || dimensions < 1 || dimensions > 3)
    return fail(CUDNN_STATUS_BAD_PARAM,
                "cudnnSetConvolutionNdDescriptor: %d spatial dimensions, expected 1 to 3", dimensions);
  descriptor->dimensions = dimensions;
  for (int i = 0; i < dimensions; ++i) {
    descriptor->padding[i] = padding[i];
    descriptor->stride[i] = stride[i];
    descriptor->dilation[i] = dilation[i];
  }
  return CUDNN_STATUS_SUCCESS;
}

// Groups follow from the channels of input and filter.
TMV_EXPORT cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t descriptor, int) {
  return descriptor ? CUDNN_STATUS_SUCCESS : fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
}

TMV_EXPORT cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t descriptor, int) {
  return descriptor ? CUDNN_STATUS_SUCCESS : fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
}

TMV_EXPORT cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                                cudnnFilterDescriptor_t w,
                                                                cudnnConvolutionDescriptor_t convolution,
                                                                cudnnTensorDescriptor_t y, int requested,
                                                                int* returned,
                                                                cudnnConvolutionAlgoPerf_t* results) {
  return list(Operation::forward, x, w, y, convolution, requested, returned, results);
}

TMV_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, cudnnFilterDescriptor_t w,
                                                                     cudnnTensorDescriptor_t y,
                                                                     cudnnConvolutionDescriptor_t convolution,
                                                                     cudnnTensorDescriptor_t x, int requested,
                                                                     int* returned,
                                                                     cudnnConvolutionAlgoPerf_t* results) {
  return list(Operation::backward_data, x, w, y, convolution, requested, returned, results);
}

TMV_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t w, int requested, int* returned,
    cudnnConvolutionAlgoPerf_t* results) {
  return list(Operation::backward_filter, x, w, y, convolution, requested, returned, results);
}

TMV_EXPORT cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t x, const void*, cudnnFilterDescriptor_t w, const void*,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y, void*, int requested, int* returned,
    cudnnConvolutionAlgoPerf_t* results, void*, size_t) {
  return list(Operation::forward, x, w, y, convolution, requested, returned, results);
}

TMV_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, cudnnFilterDescriptor_t w, const void*, cudnnTensorDescriptor_t y, const void*,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t x, void*, int requested, int* returned,
    cudnnConvolutionAlgoPerf_t* results, void*, size_t) {
  return list(Operation::backward_data, x, w, y, convolution, requested, returned, results);
}

TMV_EXPORT cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, cudnnTensorDescriptor_t x, const void*, cudnnTensorDescriptor_t y, const void*,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t w, void*, int requested, int* returned,
    cudnnConvolutionAlgoPerf_t* results, void*, size_t) {
  return list(Operation::backward_filter, x, w, y, convolution, requested, returned, results);
}

TMV_EXPORT cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                                 cudnnFilterDescriptor_t w,
                                                                 cudnnConvolutionDescriptor_t convolution,
                                                                 cudnnTensorDescriptor_t y, int,
                                                                 size_t* bytes) {
  return measure(Operation::forward, x, w, y, convolution, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t x, int, size_t* bytes) {
  return measure(Operation::backward_data, x, w, y, convolution, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t convolution, cudnnFilterDescriptor_t w, int, size_t* bytes) {
  return measure(Operation::backward_filter, x, w, y, convolution, bytes);
}

TMV_EXPORT cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x,
                                                 const void*, cudnnFilterDescriptor_t w, const void*,
                                                 cudnnConvolutionDescriptor_t convolution, int, void*, size_t,
                                                 const void*, cudnnTensorDescriptor_t y, void*) {
  return execute(handle, Operation::forward, x, w, y, convolution);
}

TMV_EXPORT cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void*, cudnnTensorDescriptor_t x, const void*, cudnnFilterDescriptor_t w,
    const void*, cudnnConvolutionDescriptor_t convolution, int, void*, size_t, const void*,
    cudnnTensorDescriptor_t, const void*, cudnnTensorDescriptor_t, const void*, cudnnActivationDescriptor_t,
    cudnnTensorDescriptor_t y, void*) {
  return execute(handle, Operation::forward, x, w, y, convolution);
}

TMV_EXPORT cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void*,
                                                      cudnnFilterDescriptor_t w, const void*,
                                                      cudnnTensorDescriptor_t y, const void*,
                                                      cudnnConvolutionDescriptor_t convolution, int, void*,
                                                      size_t, const void*, cudnnTensorDescriptor_t x, void*) {
  return execute(handle, Operation::backward_data, x, w, y, convolution);
}

TMV_EXPORT cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void*,
                                                        cudnnTensorDescriptor_t x, const void*,
                                                        cudnnTensorDescriptor_t y, const void*,
                                                        cudnnConvolutionDescriptor_t convolution, int, void*,
                                                        size_t, const void*, cudnnFilterDescriptor_t w,
                                                        void*) {
  return execute(handle, Operation::backward_filter, x, w, y, convolution);
}

}  // namespace torchmem::vgpu
