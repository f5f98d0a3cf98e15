#pragma once

#include <optional>
#include <string>

namespace torchmem::engine {

// Automatic mixed precision on CUDA for a scope, in "bf16" or "f16"; nothing without a value. Leaving the
// outermost scope clears the cache of converted weights, as `torch.autocast` does.
class AutocastScope {
 public:
  explicit AutocastScope(const std::optional<std::string>& dtype);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  bool active_;
};

}  // namespace torchmem::engine
