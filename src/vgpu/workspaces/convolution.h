#pragma once

#include <cstddef>
#include <cstdint>

namespace torchmem::vgpu {

// The three convolution operations cuDNN is asked for. Values are stored in fact indices.
enum class ConvolutionOperation : uint8_t { forward = 0, backward_data = 1, backward_filter = 2 };

enum class Layout : uint8_t { nchw = 0, nhwc = 1 };

// Which of cuDNN's choices of engine a grouping falls under.
enum class Grouping : uint8_t { none = 0, depthwise = 1, groups = 2 };

// A convolution from an input (batch, channels, input...) to an output (batch, filters, output...), in any of
// its three operations. Unused third dimensions are zero. The first five bytes name the class within which
// problems are comparable, all but the batch the problem's geometry; problems are ordered and compared byte
// by byte, so every byte has a value.
struct ConvolutionProblem {
  ConvolutionOperation operation = ConvolutionOperation::forward;
  uint8_t type = 0;  // cudnnDataType_t of input, filters and output
  Layout layout = Layout::nchw;
  uint8_t dimensions = 2;  // spatial: 2 or 3
  Grouping grouping = Grouping::none;
  uint8_t unused[3] = {};
  uint32_t channels = 0;
  uint32_t filters = 0;
  uint32_t groups = 1;
  uint32_t input[3] = {};
  uint32_t kernel[3] = {};
  uint32_t padding[3] = {};
  uint32_t stride[3] = {};
  uint32_t dilation[3] = {};
  uint32_t batch = 0;

  static constexpr size_t class_bytes = 5;
  static constexpr size_t geometry_bytes = 80;

  uint32_t output(int axis) const {
    uint32_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
    uint32_t padded = input[axis] + 2 * padding[axis];
    return padded < reach || stride[axis] == 0 ? 0 : (padded - reach) / stride[axis] + 1;
  }
};
static_assert(sizeof(ConvolutionProblem) == 84);
static_assert(offsetof(ConvolutionProblem, batch) == ConvolutionProblem::geometry_bytes);

inline Grouping grouping_of(uint32_t channels, uint32_t groups) {
  if (groups == 1) return Grouping::none;
  return groups == channels ? Grouping::depthwise : Grouping::groups;
}

}  // namespace torchmem::vgpu
