#include "torchmem/analysis.h"

#include <spdlog/fmt/ranges.h>

#include "analyze/phase_time.h"
#include "analyze/replay.h"

namespace torchmem {

namespace {

constexpr const char* end_moment = "end";

bool has_segments(const Run& run, int32_t device) {
  for (const Segment& segment : run.segments) {
    if (segment.device == device) return true;
  }
  return false;
}

void check_device(const std::set<int32_t>& devices, int32_t device) {
  if (devices.contains(device)) return;
  throw Error(ErrorKind::bad_usage,
              fmt::format("--device {}: the run has no segments and no trace of that device. Devices: {}{}.",
                          device, fmt::join(devices, ", "), devices.empty() ? "none" : ""));
}

}  // namespace

Analysis::Analysis(const Run& run, int32_t device, const std::vector<std::string>& points)
    : run_(run), device_(device) {
  if (device == run.main_device()) peak_ = find_peak(run);
  if (!trace_of(run, device).empty()) {
    try {
      history_.emplace(run, device);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      gap_ = error.what();
    }
  } else {
    gap_ = "no trace was recorded";
  }
  if (history_) {
    break_down_all(points);
  } else {
    break_down_end(points);
  }
}

void Analysis::break_down_all(const std::vector<std::string>& points) {
  auto at = [&](std::string_view name) {
    return break_down(run_, *history_, device_, find_point(run_, *history_, device_, name));
  };
  for (const std::string& name : points) points_.push_back(at(name));
  at_peak_ = at("peak");
  at_reserved_peak_ = at("reserved-peak");
  at_end_ = at(end_moment);
  growth_ = find_growth(run_, *history_, device_);
}

// The final segments need no trace.
void Analysis::break_down_end(const std::vector<std::string>& points) {
  for (const std::string& name : points) {
    if (name == end_moment) continue;
    throw Error(
        ErrorKind::bad_usage,
        fmt::format("there is no moment '{}' in this run: only the end is known, since {}. Expected end.",
                    name, gap_));
  }
  if (!has_segments(run_, device_)) return;
  end_only_.info = run_.info;
  end_only_.stacks = run_.stacks;
  end_only_.tensors = run_.tensors;
  end_only_.segments = run_.segments;
  end_only_.has_segments = true;
  end_only_.allocator_settings = run_.allocator_settings;
  try {
    history_.emplace(end_only_, device_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input || !points.empty()) throw;
    gap_ = error.what();
    return;
  }
  at_end_ = break_down(end_only_, *history_, device_, find_point(end_only_, *history_, device_, end_moment));
  for (const std::string& name : points) {
    points_.push_back(*at_end_);
    points_.back().point.name = name;
  }
}

bool Analysis::has_limit() const { return run_.info.arguments.limit_bytes.has_value(); }

std::optional<uint64_t> Analysis::room() const {
  if (auto limit = run_.info.arguments.limit_bytes) return limit;
  std::optional<uint64_t> total = run_.info.device.total_bytes;
  if (!total || run_.phases.empty()) return std::nullopt;
  const Phase& last = run_.phases.back();
  if (!last.device_bytes || !last.reserved || *last.device_bytes < last.reserved->current)
    return std::nullopt;
  uint64_t outside = *last.device_bytes - last.reserved->current;
  return outside <= *total ? std::optional(*total - outside) : std::nullopt;
}

std::optional<uint64_t> Analysis::iterations_left() const {
  std::optional<uint64_t> most = room();
  if (!growth_ || !most || !at_peak_ || growth_->bytes_per_iteration == 0) return std::nullopt;
  uint64_t peak = at_peak_->totals.allocated;
  return *most > peak ? (*most - peak) / growth_->bytes_per_iteration : 0;
}

const Phase* Analysis::phase_of(uint64_t event) const { return phase_at(run_, device_, event); }

std::list<Analysis> analyse_devices(const Run& run, const std::vector<std::string>& points,
                                    std::optional<int32_t> only) {
  std::set<int32_t> devices = run.devices();
  if (only) {
    check_device(devices, *only);
    devices = {*only};
  }
  std::list<Analysis> analyses;
  for (int32_t device : devices) analyses.emplace_back(run, device, points);
  return analyses;
}

}  // namespace torchmem
