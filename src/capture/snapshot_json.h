#pragma once

#include <c10/cuda/CUDACachingAllocator.h>

#include <nlohmann/json.hpp>

namespace torchmem::capture {

/// {"segments": [...]} in the snapshot pickle's own field names, blocks in address order; frames are left out.
nlohmann::json snapshot_json(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot);

}  // namespace torchmem::capture
