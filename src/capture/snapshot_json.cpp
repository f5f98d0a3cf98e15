#include "capture/snapshot_json.h"

#include <string>
#include <utility>

namespace torchmem::capture {
namespace {

using c10::CachingDeviceAllocator::BlockInfo;
using c10::CachingDeviceAllocator::SegmentInfo;
using nlohmann::json;

const char* state_word(const BlockInfo& block) {
  if (block.allocated) return "active_allocated";
  return block.active ? "active_pending_free" : "inactive";
}

json segment_json(const SegmentInfo& segment) {
  json blocks = json::array();
  std::uint64_t address = segment.address;
  for (const auto& block : segment.blocks) {
    blocks.push_back({{"address", address},
                      {"size", block.size},
                      {"requested_size", block.requested_size},
                      {"state", state_word(block)}});
    address += block.size;
  }
  return {{"device", segment.device},
          {"address", segment.address},
          {"total_size", segment.total_size},
          {"allocated_size", segment.allocated_size},
          {"active_size", segment.active_size},
          {"requested_size", segment.requested_size},
          {"stream", reinterpret_cast<std::uint64_t>(segment.stream)},
          {"segment_type", segment.is_large ? "large" : "small"},
          {"segment_pool_id", {segment.owner_private_pool_id.first, segment.owner_private_pool_id.second}},
          {"is_expandable", segment.is_expandable},
          {"blocks", std::move(blocks)}};
}

}  // namespace

json snapshot_json(const c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot) {
  json segments = json::array();
  for (const auto& segment : snapshot.segments) segments.push_back(segment_json(segment));
  return {{"segments", std::move(segments)}};
}

json allocator_settings_json(const c10::cuda::CUDACachingAllocator::AllocatorConfigInfo& settings) {
  json divisions = json::object();
  for (std::size_t i = 0; i < settings.roundup_power2_divisions.size(); ++i) {
    divisions[std::to_string(std::uint64_t{1} << i)] = settings.roundup_power2_divisions[i];
  }
  return {{"PYTORCH_CUDA_ALLOC_CONF", settings.last_allocator_settings},
          {"max_split_size", static_cast<std::int64_t>(settings.max_split_size)},  // no limit is -1
          {"garbage_collection_threshold", settings.garbage_collection_threshold},
          {"expandable_segments", settings.expandable_segments},
          {"pinned_num_register_threads", settings.pinned_num_register_threads},
          {"release_lock_on_cudamalloc", settings.release_lock_on_malloc},
          {"pinned_use_cuda_host_register", settings.pinned_use_host_register},
          {"graph_capture_record_stream_reuse", settings.graph_capture_record_stream_reuse},
          {"roundup_power2_divisions", std::move(divisions)}};
}

}  // namespace torchmem::capture
