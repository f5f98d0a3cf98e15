#pragma once

#include "vgpu/cudnn/api.h"
#include "vgpu/cudnn/tensor_shape.h"

// What the descriptors of cuDNN's older interface hold; callers see pointers to them.

struct cudnnContext {
  void* stream = nullptr;
};

struct cudnnTensorStruct {
  torchmem::vgpu::TensorShape shape;
};

struct cudnnFilterStruct {
  torchmem::vgpu::TensorShape shape;  // strides follow from the format
  int format = 0;                     // 0 nchw, 1 nhwc
};

struct cudnnConvolutionStruct {
  int dimensions = 0;
  int64_t padding[3] = {};
  int64_t stride[3] = {1, 1, 1};
  int64_t dilation[3] = {1, 1, 1};
};

struct cudnnRNNStruct {
  int algorithm = 0;
  int cell = 0;  // cudnnRNNMode_t
  int bias = 2;  // cudnnRNNBiasMode_t
  int direction = 0;
  int input_mode = 0;
  int type = 0;
  int precision = 0;
  int math = 0;
  int width = 0;  // of the input
  int hidden = 0;
  int projection = 0;
  int layers = 0;
  unsigned flags = 0;
};

struct cudnnRNNDataStruct {
  int type = 0;
  int layout = 0;
  int length = 0;
  int batch = 0;
  int width = 0;
  int64_t total = 0;  // sum of the sequences' lengths
};
