// Tensor and filter descriptors.
#include <algorithm>

#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/device/export.h"

namespace torchmem::vgpu {
namespace {

bool set_dims(TensorShape& shape, int type, int count, const int* dims) {
  if (count < 1 || count > TensorShape::most || !dims) return false;
  shape = {};
  shape.type = type;
  shape.count = count;
  for (int i = 0; i < count; ++i) shape.dims[i] = dims[i];
  return true;
}

}  // namespace

TMV_EXPORT cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  *descriptor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, cudnnDataType_t type,
                                                    int count, const int* dims, const int* strides) {
  if (!descriptor || !strides || !set_dims(descriptor->shape, type, count, dims))
    return fail(CUDNN_STATUS_BAD_PARAM, "cudnnSetTensorNdDescriptor: %d dimensions, expected 1 to %d", count,
                TensorShape::most);
  std::copy(strides, strides + count, descriptor->shape.strides);
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t descriptor, int requested,
                                                    cudnnDataType_t* type, int* count, int* dims,
                                                    int* strides) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  const TensorShape& shape = descriptor->shape;
  if (type) *type = shape.type;
  if (count) *count = shape.count;
  for (int i = 0; i < std::min(requested, shape.count); ++i) {
    if (dims) dims[i] = static_cast<int>(shape.dims[i]);
    if (strides) strides[i] = static_cast<int>(shape.strides[i]);
  }
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* descriptor) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  *descriptor = new cudnnFilterStruct;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t descriptor, cudnnDataType_t type,
                                                    int format, int count, const int* dims) {
  if (!descriptor || !set_dims(descriptor->shape, type, count, dims))
    return fail(CUDNN_STATUS_BAD_PARAM, "cudnnSetFilterNdDescriptor: %d dimensions, expected 1 to %d", count,
                TensorShape::most);
  descriptor->format = format;
  int64_t dense = 1;
  for (int i = count - 1; i >= 0; --i) {
    int axis = i;
    if (format == 1 && i > 0) axis = i == count - 1 ? 1 : i + 1;
    descriptor->shape.strides[axis] = dense;
    dense *= dims[axis];
  }
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnGetFilterNdDescriptor(cudnnFilterDescriptor_t descriptor, int requested,
                                                    cudnnDataType_t* type, int* format, int* count,
                                                    int* dims) {
  if (!descriptor) return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: null", __func__);
  if (type) *type = descriptor->shape.type;
  if (format) *format = descriptor->format;
  if (count) *count = descriptor->shape.count;
  for (int i = 0; dims && i < std::min(requested, descriptor->shape.count); ++i)
    dims[i] = static_cast<int>(descriptor->shape.dims[i]);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace torchmem::vgpu
