#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <functional>

namespace torchmem::engine {

// The value with each tensor in it (in tuples, lists and dictionaries, not in objects) put through
// `replace`, always in the same order.
c10::IValue map_tensors(const c10::IValue& value,
                        const std::function<at::Tensor(const at::Tensor&)>& replace);

}  // namespace torchmem::engine
