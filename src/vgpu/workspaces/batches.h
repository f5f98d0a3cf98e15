#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/workspaces/facts.h"

namespace torchmem::vgpu {

// Whether two sizes are taken to be of one form: within 5 % and 4 KiB.
bool alike(uint64_t a, uint64_t b);

// The size that other batches of the same convolution speak for. As long as cuDNN chooses the same engine, a
// workspace is a straight line in the batch, or of the same form. Absent where no other batch is recorded or
// where they do not agree. `usable`, if given, says which facts may be used.
std::optional<uint64_t> estimate_from_batches(const Facts& facts, const ConvolutionProblem& problem,
                                              bool (*usable)(const ConvolutionFact&) = nullptr);

}  // namespace torchmem::vgpu
