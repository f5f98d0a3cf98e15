#include "capture/statistics.h"

#include <utility>

namespace torchmem::capture {
namespace {

using c10::CachingAllocator::Stat;
using c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;
using c10::CachingDeviceAllocator::DeviceStats;
using nlohmann::json;

json stat_json(const Stat& stat) {
  return {
      {"current", stat.current}, {"peak", stat.peak}, {"allocated", stat.allocated}, {"freed", stat.freed}};
}

const Stat& of(const StatArray& stats, StatType type) { return stats[static_cast<std::size_t>(type)]; }

json pools_json(const StatArray& stats) {
  return {{"all", stat_json(of(stats, StatType::AGGREGATE))},
          {"small_pool", stat_json(of(stats, StatType::SMALL_POOL))},
          {"large_pool", stat_json(of(stats, StatType::LARGE_POOL))}};
}

constexpr std::pair<const char*, StatArray DeviceStats::*> pool_statistics[] = {
    {"allocation", &DeviceStats::allocation},
    {"segment", &DeviceStats::segment},
    {"active", &DeviceStats::active},
    {"inactive_split", &DeviceStats::inactive_split},
    {"allocated_bytes", &DeviceStats::allocated_bytes},
    {"reserved_bytes", &DeviceStats::reserved_bytes},
    {"active_bytes", &DeviceStats::active_bytes},
    {"inactive_split_bytes", &DeviceStats::inactive_split_bytes},
    {"requested_bytes", &DeviceStats::requested_bytes},
};

constexpr std::pair<const char*, int64_t DeviceStats::*> counts[] = {
    {"num_alloc_retries", &DeviceStats::num_alloc_retries},
    {"num_ooms", &DeviceStats::num_ooms},
    {"num_sync_all_streams", &DeviceStats::num_sync_all_streams},
    {"num_device_alloc", &DeviceStats::num_device_alloc},
    {"num_device_free", &DeviceStats::num_device_free},
    {"max_split_size", &DeviceStats::max_split_size},
};

constexpr std::pair<const char*, StatArray DeviceStats::*> summary[] = {
    {"allocated_bytes", &DeviceStats::allocated_bytes},
    {"reserved_bytes", &DeviceStats::reserved_bytes},
    {"active_bytes", &DeviceStats::active_bytes},
    {"requested_bytes", &DeviceStats::requested_bytes},
    {"inactive_split_bytes", &DeviceStats::inactive_split_bytes},
};

}  // namespace

json statistics_json(const DeviceStats& stats) {
  json result = json::object();
  for (const auto& [name, member] : pool_statistics) result[name] = pools_json(stats.*member);
  for (const auto& [name, member] : counts) result[name] = stats.*member;
  result["oversize_allocations"] = stat_json(stats.oversize_allocations);
  result["oversize_segments"] = stat_json(stats.oversize_segments);
  return result;
}

json summary_json(const DeviceStats& stats) {
  json result = json::object();
  for (const auto& [name, member] : summary) {
    const Stat& stat = of(stats.*member, StatType::AGGREGATE);
    result[name] = {{"current", stat.current}, {"peak", stat.peak}};
  }
  return result;
}

}  // namespace torchmem::capture
