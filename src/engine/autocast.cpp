#include "engine/autocast.h"

#include <ATen/autocast_mode.h>

namespace torchmem::engine {

AutocastScope::AutocastScope(const std::optional<std::string>& dtype) : active_(dtype.has_value()) {
  if (!active_) return;
  at::autocast::set_autocast_dtype(at::kCUDA, *dtype == "bf16" ? at::kBFloat16 : at::kHalf);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, false);
}

}  // namespace torchmem::engine
