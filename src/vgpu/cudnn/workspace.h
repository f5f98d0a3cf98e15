#pragma once

#include <cstdint>

#include "vgpu/workspaces/estimate.h"

namespace torchmem::vgpu {

// The facts of this profile's GPU ("cudnn_facts" in the profile): facts/NAME.bin beside this library, mapped
// at first use. A profile that names none gets another GPU's, and every answer is then an estimate.
const Facts& cudnn_facts();

// A question about a workspace, with its answer and the words that name both in a report.
struct Workspace {
  const char* operation = "";  // e.g. "conv_forward"
  char problem[248] = {};      // as in the facts, e.g. "bf16 nhwc 32x3x224x224 -> 64 k7x7 p3x3 s2x2"
  WorkspaceSize size;
};

Workspace convolution_workspace(const ConvolutionProblem& problem);

// The recorded answer to `key` ("OPERATION PROBLEM"), or `otherwise`; on a device that has no facts of its
// own each is an estimate at best. `operation` must begin `key` and outlive the result.
Workspace named_workspace(const char* operation, const char* key, WorkspaceSize otherwise);

// Tells the device that the workspace was asked for.
void count(const Workspace& workspace);

}  // namespace torchmem::vgpu
