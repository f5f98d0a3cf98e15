#pragma once

#include <ATen/core/stack.h>

#include <cstdint>
#include <optional>

#include "values/operator.h"

namespace torchmem::values {

// Everything that would be seen of an operation on the CPU is off while it lives: observers, autograd,
// autocast, Python's modes, warnings.
class Unseen {
 public:
  Unseen();
  ~Unseen();
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  struct Guards;
  std::unique_ptr<Guards> guards_;
};

// Calls the operator with arguments on the CPU, which it may write to. Random numbers come from a generator
// of its own with that seed. Nothing where the CPU refuses them. Within an Unseen.
std::optional<torch::jit::Stack> compute(const Operator& op, torch::jit::Stack arguments, std::uint64_t seed);

}  // namespace torchmem::values
