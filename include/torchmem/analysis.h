// All that the reports say of one device of a run, computed once for all of them.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/growth.h"
#include "torchmem/peak.h"
#include "torchmem/point.h"
#include "torchmem/run.h"

namespace torchmem {

// Refers to the run, which must outlive it, and into itself, so that it stays where it was made.
class Analysis {
 public:
  // `moments`: what is asked for besides the peaks, as find_point names it. Throws Error(bad_usage) for one
  // that the run does not have; never for a trace that does not fit together.
  Analysis(const Run& run, int32_t device, const std::vector<std::string>& points = {});
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  const Run& run() const { return run_; }
  int32_t device() const { return device_; }
  // Of the run's main device: what its phases' statistics say as well. Nothing: nothing was measured.
  const std::optional<Peak>& peak() const { return peak_; }
  // Why there is no moment but the end; empty when the trace tells all.
  const std::string& gap() const { return gap_; }
  // What the memory was made of. Nothing where it is not known.
  const std::optional<Breakdown>& at_peak() const { return at_peak_; }
  const std::optional<Breakdown>& at_reserved_peak() const { return at_reserved_peak_; }
  const std::optional<Breakdown>& at_end() const { return at_end_; }
  const std::vector<Breakdown>& points() const { return points_; }
  const std::optional<Growth>& growth() const { return growth_; }
  // The most that the allocator may reserve: the limit that was given, else what the device has without
  // context and modules.
  std::optional<uint64_t> room() const;
  bool has_limit() const;
  // How many more iterations that grow as found fit into the room, going by allocated bytes; reserved ones
  // can make it fewer.
  std::optional<uint64_t> iterations_left() const;
  const BlockHistory& history() const { return *history_; }
  // The phase and iteration in which that event of the trace happened; nothing before or after all phases.
  const Phase* phase_of(uint64_t event) const;

 private:
  void break_down_all(const std::vector<std::string>& points);
  void break_down_end(const std::vector<std::string>& points);

  const Run& run_;
  int32_t device_;
  std::optional<Peak> peak_;
  std::string gap_;
  Run end_only_;  // the run without a trace that does not fit together
  std::optional<BlockHistory> history_;
  std::optional<Breakdown> at_peak_;
  std::optional<Breakdown> at_reserved_peak_;
  std::optional<Breakdown> at_end_;
  std::vector<Breakdown> points_;
  std::optional<Growth> growth_;
};

// One for each device that has segments or a trace, by index; or of `only` alone. Throws Error(bad_usage)
// where there is no such device.
std::list<Analysis> analyse_devices(const Run& run, const std::vector<std::string>& points = {},
                                    std::optional<int32_t> only = {});

}  // namespace torchmem
