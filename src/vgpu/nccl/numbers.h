#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torchmem::vgpu::nccl {

// ncclDataType_t, by their numbers.
enum DataType : int {
  int8 = 0,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16,
  float8e4m3,
  float8e5m2,
};

// ncclRedOp_t, by their numbers; what is above are operations that the program made.
enum ReductionKind : int {
  reduction_sum = 0,
  reduction_product,
  reduction_max,
  reduction_min,
  reduction_average,
  own_reduction
};

// Bytes of one element. A type that is not known is taken for the largest.
size_t element_bytes(int type);

// What the ranks' contributions, in the order of the ranks, make together: `count` elements of `type` in
// `to`. False for a type that is not computed with (the 8-bit floats). Integers wrap. Floats are added in
// their type, the 16-bit ones in 32 bits and rounded in the end; NCCL's own order depends on the machine.
bool reduce(const std::vector<const void*>& contributions, void* to, size_t count, int type, int kind);

// Multiplies each element by a scalar of the same type. False as above.
bool scale(void* values, size_t count, int type, const void* scalar);

}  // namespace torchmem::vgpu::nccl
