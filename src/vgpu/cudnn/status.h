#pragma once

#include "vgpu/cudnn/api.h"

namespace torchmem::vgpu {

// Keeps `message` for cudnnGetLastErrorString of this thread and returns `status`.
// `format`: printf's, saying what was given and what was expected.
cudnnStatus_t fail(cudnnStatus_t status, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace torchmem::vgpu
