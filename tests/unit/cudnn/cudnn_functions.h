#pragma once

#include "vgpu/cudnn/api.h"

// Declarations of the virtual cuDNN's functions, for tests that call them as PyTorch does.
extern "C" {
cudnnStatus_t cudnnCreate(cudnnHandle_t*);
cudnnStatus_t cudnnDestroy(cudnnHandle_t);
cudnnStatus_t cudnnSetStream(cudnnHandle_t, void*);
cudnnStatus_t cudnnGetStream(cudnnHandle_t, void**);
size_t cudnnGetVersion();
size_t cudnnGetCudartVersion();
cudnnStatus_t cudnnGetProperty(int, int*);
const char* cudnnGetErrorString(cudnnStatus_t);
void cudnnGetLastErrorString(char*, size_t);

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t*);
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t);
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t, int64_t, const void*);
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t, int64_t, int64_t*, void*);
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t);
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t);

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t*);
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t);
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t, cudnnDataType_t, int, const int*,
                                         const int*);
cudnnStatus_t cudnnGetTensorNdDescriptor(cudnnTensorDescriptor_t, int, cudnnDataType_t*, int*, int*, int*);
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t*);
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t);
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t, cudnnDataType_t, int, int, const int*);

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t*);
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t);
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t, int, const int*, const int*,
                                              const int*, int, cudnnDataType_t);
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                     cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
                                                     cudnnTensorDescriptor_t, int, int*,
                                                     cudnnConvolutionAlgoPerf_t*);
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t,
                                                      cudnnFilterDescriptor_t, cudnnConvolutionDescriptor_t,
                                                      cudnnTensorDescriptor_t, int, size_t*);

cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t, int, int, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnActivationDescriptor_t, size_t*);
cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t, int, int, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
    cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t, cudnnActivationDescriptor_t,
    size_t*);
cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t, int, int,
                                                                   cudnnActivationDescriptor_t,
                                                                   cudnnTensorDescriptor_t, size_t*);
cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, size_t*);

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t*);
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t);
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t, int, cudnnRNNMode_t, cudnnRNNBiasMode_t, int,
                                       int, cudnnDataType_t, cudnnDataType_t, int, int32_t, int32_t, int32_t,
                                       int32_t, cudnnDropoutDescriptor_t, uint32_t);
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t*);
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t);
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t, cudnnDataType_t, int, int, int, int,
                                        const int*, void*);
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t, size_t*);
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t, cudnnForwardMode_t,
                                        cudnnRNNDataDescriptor_t, size_t*, size_t*);
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t, int32_t, size_t, const void*,
                                      int32_t, cudnnTensorDescriptor_t, void**, cudnnTensorDescriptor_t,
                                      void**);
}
