#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace torchmem::engine {

// A loss by its name on the command line. `apply` takes the picked tensor of the result and drops its own
// reference to it when done.
//
//   sum            y.sum()
//   mean           y.mean()
//   mse            mean squared difference to a target of zeros of y's shape
//   cross_entropy  class targets of 0 (int64): classes along dimension 1, or along the last one of a result
//   of three dimensions (batch,
//                  position, class), which is flattened to (batch * position, class) as language models do
//
// A target is made in the loss phase and lives until backward no longer needs it.
struct Loss {
  const char* name;
  at::Tensor (*apply)(at::Tensor y);
};

const std::vector<Loss>& losses();

// Throws Failure (bad_usage) listing the names.
const Loss& find_loss(const std::string& name);

}  // namespace torchmem::engine
