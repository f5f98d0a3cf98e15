// The numbers that reports have of a phase and of a run's peak: each is named once, and stands in every table
// that has such numbers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "report/table.h"
#include "torchmem/peak.h"

namespace torchmem {

enum class Unit : uint8_t { bytes, nanoseconds };

template <class Of>
struct Statistic {
  const char* key;    // in JSON
  const char* title;  // of a column
  Unit unit;
  std::optional<uint64_t> (*get)(const Of& of);
  const char* full_title = title;  // where nothing beside it says of what it is
};

extern const std::array<Statistic<Phase>, 5> phase_statistics;
extern const std::array<Statistic<Peak>, 3> peak_statistics;

// "1.50 MiB", "2.3" (milliseconds), "-" for what was not measured.
TableCell value_cell(Unit unit, std::optional<uint64_t> value);

template <class Of>
TableCell cell_of(const Statistic<Of>& statistic, const Of& of) {
  return value_cell(statistic.unit, statistic.get(of));
}

}  // namespace torchmem
