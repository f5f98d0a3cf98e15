#pragma once

#include "vgpu/cudnn/descriptors.h"
#include "vgpu/cudnn/workspace.h"

namespace torchmem::vgpu {

// The spaces that an RNN asks for: recorded; else the weight space by its layout, which needs no record, and
// the others from the form of the recorded ones. `training`: cudnnForwardMode_t is training.
Workspace rnn_weight_space(const cudnnRNNStruct& rnn);
Workspace rnn_workspace(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data, bool training);
Workspace rnn_reserve(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& data, bool training);

}  // namespace torchmem::vgpu
