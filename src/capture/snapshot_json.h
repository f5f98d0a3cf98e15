#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <nlohmann/json.hpp>

namespace torchmem::capture {

// {"segments": [...]} in the snapshot pickle's own field names, blocks in address order; frames are left
// out.
nlohmann::json snapshot_json(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot);

// The allocator's settings under the keys that the snapshot pickle has for them.
nlohmann::json allocator_settings_json(const c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings);

}  // namespace torchmem::capture
