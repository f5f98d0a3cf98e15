#pragma once

#include "vgpu/cudnn/backend.h"

namespace torchmem::vgpu {

// The workspace of an operation graph: one convolution, scaled dot-product attention (as one unified
// operation or spelled out in matrix products), or anything else, of which nothing is known.
Workspace graph_workspace(const BackendValue& graph);

// The engine recorded for a graph that is one convolution; 0 where none is.
int64_t recorded_engine(const BackendValue& graph);

// Whether a device offers other engines for the graph: it is a convolution.
bool has_other_engines(const BackendValue& graph);

}  // namespace torchmem::vgpu
