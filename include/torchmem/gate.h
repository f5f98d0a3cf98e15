// Whether a run needs no more memory than it may: against a baseline that an earlier run left, against a
// budget, or both. All arithmetic is on whole bytes, so that a run that needs exactly what is allowed passes
// and one byte more does not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "torchmem/baseline.h"

namespace torchmem {

// How much more than the baseline is allowed: a share of it (numerator / denominator), or bytes.
struct Tolerance {
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  uint64_t bytes = 0;
};

// "1%", "0.5%", "16MiB", "0": a number other than 0 needs its unit. Throws Error(bad_usage) naming `what`.
Tolerance parse_tolerance(std::string_view text, std::string_view what);

// Baseline and tolerance, rounded down to whole bytes: the most that passes. Never overflows.
uint64_t allowed_bytes(uint64_t baseline, const Tolerance& tolerance);

// What is measured of a run: one number of bytes.
struct GateSubject {
  enum class Scope { run, phase, category } scope = Scope::run;
  std::string name;  // of the phase, "forward" (the highest of all) or "forward:1", or category
  Metric metric = Metric::allocated;  // of a category always this one

  bool operator==(const GateSubject&) const = default;
};
std::string name_of(const GateSubject& subject);

struct GateCheck {
  std::string name;
  uint64_t measured = 0;
  std::optional<uint64_t> baseline;  // absent: checked against the budget
  uint64_t allowed = 0;
  Metric metric = Metric::allocated;  // of the subject
  bool passed() const { return measured <= allowed; }
};

// Checks each subject against the baseline (null: none) and the budget, whichever there are. Throws
// Error(bad_usage) for a subject that the run does not have, naming what it has, and Error(bad_input) for
// one that the baseline does not have.
std::vector<GateCheck> check_gate(const std::vector<GateSubject>& subjects, const GateNumbers& numbers,
                                  const GateNumbers* baseline, const Tolerance& tolerance,
                                  std::optional<uint64_t> budget);

// What there is more of than in the baseline, largest first. At the peak of allocated "activations", "module
// layer1.0.conv1"; at the peak of reserved "segments of the large pool", and what they were for:
// "activations", "free in segments". Empty where one of the two does not say.
struct GateGrowth {
  std::string name;
  uint64_t baseline = 0;
  uint64_t measured = 0;
};
std::vector<GateGrowth> find_gate_growth(const GateNumbers& numbers, const GateNumbers& baseline);
std::vector<GateGrowth> find_reserved_growth(const GateNumbers& numbers, const GateNumbers& baseline);

}  // namespace torchmem
