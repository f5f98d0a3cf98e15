#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/cudnn/tensor_shape.h"

namespace torchmem::vgpu {

enum class BatchNormSpace { forward, backward, reserve };

// The bytes that plain batch norm asks for in training. A rule, not a guess: it gives all 12,000 recorded
// answers to the byte (docs/facts/cudnn.md). Absent for types, modes and layouts of which none was recorded:
// PyTorch asks for f32 and f16 alone, in mode 1 (spatial) of nchw tensors and mode 2 (persistent) of nhwc
// ones.
std::optional<uint64_t> batch_norm_space(BatchNormSpace space, int mode, const TensorShape& x);

}  // namespace torchmem::vgpu
