#pragma once

#include "vgpu/workspaces/facts.h"

namespace torchmem::vgpu {

// How a workspace size is known; the numbers are those of tmv_count_workspace. What a rule gives that gave
// every recorded size counts as recorded.
enum class Knowledge { recorded = 0, estimated = 1, unknown = 2, without = 3 };

struct WorkspaceSize {
  uint64_t bytes = 0;
  Knowledge knowledge = Knowledge::unknown;
};

// The recorded size; or else an estimate from other batches of the same convolution, or from the nearest
// recorded problems of the same class; or else, where no problem of the class is recorded, 0 and unknown.
WorkspaceSize convolution_workspace(const Facts& facts, const ConvolutionProblem& problem);

// The estimate alone, as if the problem itself were not recorded (so that the estimate can be measured).
// `usable`, if given, says which facts may be used.
WorkspaceSize estimate_convolution(const Facts& facts, const ConvolutionProblem& problem,
                                   bool (*usable)(const ConvolutionFact&) = nullptr);

}  // namespace torchmem::vgpu
