#pragma once

#include "vgpu/workspaces/convolution.h"

namespace torchmem::vgpu {

// What a convolution's workspace is made of: copies of some of its tensors with channels padded to 16 bytes,
// partial sums of the filters in f32 where the work is split (often one for each of the batch), and a rest.
// Taken from one problem's size, it gives the size of a problem for which cuDNN chooses alike.
class WorkspaceForm {
 public:
  WorkspaceForm(const ConvolutionProblem& problem, uint64_t bytes);

  uint64_t bytes_for(const ConvolutionProblem& problem) const;

 private:
  unsigned copies_ = 0;             // bits: input, output, filters
  uint64_t partials_ = 0;           // f32 copies of the filters
  bool partials_by_batch_ = false;  // as many as the batch is large
  uint64_t rest_ = 0;               // bytes
  double rest_share_ = 0;           // of the tensors' bytes, where the rest is too large to be scratch
};

}  // namespace torchmem::vgpu
