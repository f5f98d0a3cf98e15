// What a gate found, for people and CI systems.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "torchmem/gate.h"
#include "torchmem/text_style.h"

namespace torchmem {

enum class GateVerdict : uint8_t { passed, failed, error };

struct GateReport {
  std::string what;     // the model's path or the program, with device and software
  std::string model;    // the model's path or the program alone
  std::string against;  // "baseline.json, tolerance 1%" and the budget
  std::string written;  // the baseline that was written; empty: none was
  std::vector<GateCheck> checks;
  // Where a check against the baseline failed: of allocated, and of reserved or the device.
  std::vector<GateGrowth> growth;
  std::vector<GateGrowth> reserved_growth;
  std::vector<HeldSegment> segments;  // where a check of reserved or the device failed
  std::vector<std::string> warnings;
  std::optional<GateNumbers> numbers;  // of the run
  std::optional<Run> run;              // its info and assumptions; nothing where none was made
  // Out of memory is a failure; with any other the gate could not tell.
  std::optional<RunError> error;

  GateVerdict verdict() const;
};

std::string gate_text(const GateReport& report, const TextStyle& style = {});
std::string gate_junit(const GateReport& report);
std::string gate_markdown(const GateReport& report);
// GitHub's workflow commands: an error for each check that failed and for what went wrong, a warning for each
// warning.
std::string gate_annotations(const GateReport& report);

}  // namespace torchmem
