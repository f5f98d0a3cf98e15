#pragma once

#include <optional>

#include "operation.h"

namespace torchmem::vgpu::nccl {

// The reductions that the program made (ncclRedOpCreatePreMulSum): each rank's values times a scalar, summed.
// `on_host` says where the scalar is; on the device it is what it was when it was given.
int make_reduction(const void* scalar, int type, bool on_host);
void forget_reduction(int kind);
// Nothing for a reduction that the program did not make.
std::optional<Scalar> scalar_of(int kind);

}  // namespace torchmem::vgpu::nccl
