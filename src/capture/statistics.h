#pragma once

#include <c10/core/CachingDeviceAllocator.h>

#include <nlohmann/json.hpp>

namespace torchmem::capture {

// The allocator's statistics in the nested form of `torch.cuda.memory_stats_as_nested_dict`, key for key.
nlohmann::json statistics_json(const c10::CachingDeviceAllocator::DeviceStats& stats);

// {"allocated_bytes": {"current", "peak"}, "reserved_bytes", "active_bytes", "requested_bytes",
// "inactive_split_bytes"} over both pools.
nlohmann::json summary_json(const c10::CachingDeviceAllocator::DeviceStats& stats);

}  // namespace torchmem::capture
