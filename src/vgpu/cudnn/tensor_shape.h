#pragma once

#include <cstdint>

#include "vgpu/workspaces/convolution.h"

namespace torchmem::vgpu {

// Dimensions and strides (in elements) of a tensor as cuDNN's descriptors give them.
struct TensorShape {
  static constexpr int most = 8;
  int type = 0;  // cudnnDataType_t
  int count = 0;
  int64_t dims[most] = {};
  int64_t strides[most] = {};
  bool is_virtual = false;

  bool is(int64_t a, int64_t b, int64_t c, int64_t d) const {
    return count == 4 && dims[0] == a && dims[1] == b && dims[2] == c && dims[3] == d;
  }
};

// Which layouts the strides fit; dimensions of size 1 tell nothing, so both may.
struct LayoutFit {
  bool nchw = true;
  bool nhwc = true;
};
LayoutFit layout_fit(const TensorShape& shape);

// The convolution from x by w to y; false when the descriptors do not describe one of 2 or 3 spatial
// dimensions. Tensors that disagree about the layout, or have none of the two, count as nchw.
bool make_convolution(ConvolutionOperation operation, const TensorShape& x, const TensorShape& w,
                      const TensorShape& y, const int64_t* padding, const int64_t* stride,
                      const int64_t* dilation, ConvolutionProblem& problem);

}  // namespace torchmem::vgpu
