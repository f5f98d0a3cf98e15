#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>

namespace torchmem::engine {

// The tensor that torch.save wrote to the file, moved to the device. Throws Failure (bad_input), beginning
// with `place`, if the file cannot be read or holds anything else.
at::Tensor load_tensor_file(const std::string& path, c10::Device device, const std::string& place,
                            const std::string& signature);

}  // namespace torchmem::engine
