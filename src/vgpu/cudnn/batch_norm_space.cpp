#include "vgpu/cudnn/batch_norm_space.h"

namespace torchmem::vgpu {
namespace {

constexpr int spatial = 1, spatial_persistent = 2;  // cudnnBatchNormMode_t
constexpr int data_float = 0, data_half = 2;        // cudnnDataType_t

uint64_t parts(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

// The persistent kernels work on tiles of channels by rows (all other dimensions), keep two f32 sums of each
// channel of a tile, and a counter for each tile of channels.
uint64_t persistent(BatchNormSpace space, const TensorShape& x) {
  auto channels = static_cast<uint64_t>(x.dims[1]);
  uint64_t rows = 1;
  for (int i = 0; i < x.count; ++i)
    if (i != 1) rows *= static_cast<uint64_t>(x.dims[i]);
  uint64_t width = channels % 4 == 0 ? 64 : 16;
  uint64_t across = parts(channels, width), sums = 2 * sizeof(float) * width;
  if (space == BatchNormSpace::backward) return 1056 + 4 * across + across * sums * parts(rows, 96);
  return 1072 + 4 * across + across * (sums + 4) * parts(rows, x.type == data_half ? 160 : 64);
}

}  // namespace

std::optional<uint64_t> batch_norm_space(BatchNormSpace space, int mode, const TensorShape& x) {
  bool recorded = (x.type == data_float || x.type == data_half) && (x.count == 4 || x.count == 5);
  LayoutFit fit = layout_fit(x);
  if (recorded && mode == spatial && fit.nchw) return 0;
  if (!recorded || mode != spatial_persistent || !fit.nhwc) return std::nullopt;
  return space == BatchNormSpace::reserve ? 0 : persistent(space, x);
}

}  // namespace torchmem::vgpu
