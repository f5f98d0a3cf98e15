#include "vgpu/cudnn/modules.h"
// Recurrent networks: descriptors, the layout of their weights, and their spaces; running them does nothing.
#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/rnn_space.h"
#include "vgpu/cudnn/rnn_weights.h"
#include "vgpu/cudnn/status.h"
#include "vgpu/device/export.h"

namespace torchmem::vgpu {
namespace {

cudnnStatus_t null(const char* function) {
  return fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "%s: a handle or descriptor is null", function);
}

void set_part(const RnnWeights::Part& part, int type, const void* space, cudnnTensorDescriptor_t descriptor,
              void** address) {
  if (descriptor) {
    descriptor->shape = {};
    descriptor->shape.type = type;
    descriptor->shape.count = 3;
    int64_t dims[] = {part.rows ? 1 : 0, part.rows, part.columns};
    int64_t strides[] = {static_cast<int64_t>(part.elements()), part.columns, 1};
    for (int i = 0; i < 3; ++i) {
      descriptor->shape.dims[i] = dims[i];
      descriptor->shape.strides[i] = strides[i];
    }
  }
  if (address)
    *address = part.rows ? const_cast<char*>(static_cast<const char*>(space)) + part.offset : nullptr;
}

}  // namespace

TMV_EXPORT cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* descriptor) {
  if (!descriptor) return null(__func__);
  *descriptor = new cudnnRNNStruct;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t descriptor, int algorithm,
                                                  cudnnRNNMode_t cell, cudnnRNNBiasMode_t bias, int direction,
                                                  int input_mode, cudnnDataType_t type,
                                                  cudnnDataType_t precision, int math, int32_t width,
                                                  int32_t hidden, int32_t projection, int32_t layers,
                                                  cudnnDropoutDescriptor_t, uint32_t flags) {
  if (!descriptor) return null(__func__);
  if (width < 1 || hidden < 1 || layers < 1 || projection < 0)
    return fail(CUDNN_STATUS_BAD_PARAM,
                "cudnnSetRNNDescriptor_v8: input %d, hidden %d, layers %d, expected at least 1", width,
                hidden, layers);
  *descriptor = {algorithm, cell,  bias,   direction,  input_mode, type, precision,
                 math,      width, hidden, projection, layers,     flags};
  recurrent_network_set_up();
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* descriptor) {
  if (!descriptor) return null(__func__);
  *descriptor = new cudnnRNNDataStruct;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor, cudnnDataType_t type,
                                                   int layout, int length, int batch, int width,
                                                   const int* lengths, void*) {
  if (!descriptor || (batch > 0 && !lengths)) return null(__func__);
  *descriptor = {type, layout, length, batch, width, 0};
  for (int i = 0; i < batch; ++i) descriptor->total += lengths[i];
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                                    size_t* bytes) {
  if (!handle || !rnn || !bytes) return null(__func__);
  Workspace space = rnn_weight_space(*rnn);
  count(space);
  *bytes = space.size.bytes;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                                 int32_t layer, size_t bytes, const void* space, int32_t id,
                                                 cudnnTensorDescriptor_t matrix, void** matrix_address,
                                                 cudnnTensorDescriptor_t bias, void** bias_address) {
  if (!handle || !rnn) return null(__func__);
  RnnWeights weights(*rnn);
  if (layer < 0 || layer >= weights.layers() || id < 0 || id > 2 * weights.gates() || bytes < weights.bytes())
    return fail(CUDNN_STATUS_BAD_PARAM,
                "cudnnGetRNNWeightParams: layer %d of %d, part %d of %d, %zu bytes, expected at least %llu",
                layer, weights.layers(), id, 2 * weights.gates(), bytes,
                static_cast<unsigned long long>(weights.bytes()));
  set_part(weights.matrix(layer, id), rnn->type, space, matrix, matrix_address);
  set_part(weights.bias(layer, id), rnn->type, space, bias, bias_address);
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                                   cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t data,
                                                   size_t* workspace, size_t* reserve) {
  if (!handle || !rnn || !data) return null(__func__);
  bool training = mode == CUDNN_FWD_MODE_TRAINING;
  auto tell = [](const Workspace& space, size_t* bytes) {
    count(space);
    *bytes = space.size.bytes;
  };
  if (workspace) tell(rnn_workspace(*rnn, *data, training), workspace);
  if (reserve && training) tell(rnn_reserve(*rnn, *data, training), reserve);
  if (reserve && !training) *reserve = 0;
  return CUDNN_STATUS_SUCCESS;
}

TMV_EXPORT cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, cudnnForwardMode_t,
                                         const int32_t*, cudnnRNNDataDescriptor_t, const void*,
                                         cudnnRNNDataDescriptor_t, void*, cudnnTensorDescriptor_t,
                                         const void*, void*, cudnnTensorDescriptor_t, const void*, void*,
                                         size_t, const void*, size_t, void*, size_t, void*) {
  return handle && rnn ? CUDNN_STATUS_SUCCESS : null(__func__);
}

TMV_EXPORT cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn,
                                                 const int32_t*, cudnnRNNDataDescriptor_t, const void*,
                                                 const void*, cudnnRNNDataDescriptor_t, void*,
                                                 cudnnTensorDescriptor_t, const void*, const void*, void*,
                                                 cudnnTensorDescriptor_t, const void*, const void*, void*,
                                                 size_t, const void*, size_t, void*, size_t, void*) {
  return handle && rnn ? CUDNN_STATUS_SUCCESS : null(__func__);
}

TMV_EXPORT cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnn, int,
                                                    const int32_t*, cudnnRNNDataDescriptor_t, const void*,
                                                    cudnnTensorDescriptor_t, const void*,
                                                    cudnnRNNDataDescriptor_t, const void*, size_t, void*,
                                                    size_t, void*, size_t, void*) {
  return handle && rnn ? CUDNN_STATUS_SUCCESS : null(__func__);
}

}  // namespace torchmem::vgpu
