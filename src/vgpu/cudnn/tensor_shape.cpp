#include "vgpu/cudnn/tensor_shape.h"

#include <initializer_list>

namespace torchmem::vgpu {

LayoutFit layout_fit(const TensorShape& shape) {
  auto fits = [&](bool channels_last) {
    int64_t dense = 1;
    for (int i = shape.count - 1; i >= 0; --i) {
      int axis = i;
      if (channels_last && i > 0) axis = i == shape.count - 1 ? 1 : i + 1;
      if (shape.dims[axis] != 1 && shape.strides[axis] != dense) return false;
      dense *= shape.dims[axis];
    }
    return true;
  };
  return {fits(false), fits(true)};
}

bool make_convolution(ConvolutionOperation operation, const TensorShape& x, const TensorShape& w,
                      const TensorShape& y, const int64_t* padding, const int64_t* stride,
                      const int64_t* dilation, ConvolutionProblem& problem) {
  if (x.count < 4 || x.count > 5 || w.count != x.count || y.count != x.count) return false;
  for (int i = 0; i < x.count; ++i)
    if (x.dims[i] < 1 || w.dims[i] < 1 || y.dims[i] < 1) return false;
  bool channels_last = false, channels_first = false;
  for (const TensorShape* shape : {&x, &w, &y}) {
    LayoutFit fit = layout_fit(*shape);
    channels_last |= fit.nhwc && !fit.nchw;
    channels_first |= !fit.nhwc;
  }
  problem = {};
  problem.operation = operation;
  problem.type = static_cast<uint8_t>(x.type);
  problem.layout = channels_last && !channels_first ? Layout::nhwc : Layout::nchw;
  problem.dimensions = static_cast<uint8_t>(x.count - 2);
  problem.batch = static_cast<uint32_t>(x.dims[0]);
  problem.channels = static_cast<uint32_t>(x.dims[1]);
  problem.filters = static_cast<uint32_t>(w.dims[0]);
  problem.groups = static_cast<uint32_t>(x.dims[1] / w.dims[1]);
  if (problem.groups == 0) return false;
  problem.grouping = grouping_of(problem.channels, problem.groups);
  for (int i = 0; i < problem.dimensions; ++i) {
    problem.input[i] = static_cast<uint32_t>(x.dims[i + 2]);
    problem.kernel[i] = static_cast<uint32_t>(w.dims[i + 2]);
    problem.padding[i] = static_cast<uint32_t>(padding[i]);
    problem.stride[i] = static_cast<uint32_t>(stride[i]);
    problem.dilation[i] = static_cast<uint32_t>(dilation[i]);
  }
  return true;
}

}  // namespace torchmem::vgpu
