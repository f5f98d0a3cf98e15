// The phases of a run, as a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "torchmem/report.h"

namespace torchmem {

// A line of the table: a phase, or iterations that only repeat the one before.
struct PhaseRow {
  const Phase* phase = nullptr;
  std::string note;  // where there is no phase: "iterations 2 to 9: the same"
};
std::vector<PhaseRow> phase_rows(const std::vector<Phase>& phases);

// "0", "0.2" (iteration and micro-batch), "-".
std::string iteration_text(const Phase& phase);

// "" when there are no phases.
std::string phase_table(const Run& run, const TextStyle& style);

}  // namespace torchmem
