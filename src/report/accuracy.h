// How far a result can be trusted: what the virtual GPU had to assume.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchmem/run.h"
#include "torchmem/text_style.h"

namespace torchmem {

// {"complete", "verified", "decided_by_assumed_values", "estimated_workspaces": [...], "assumed_values":
// [...], "unmodelled_calls": [...]}
nlohmann::json accuracy_json(const Run& run);

// Whether the device was a real one, or one whose profile was compared with it.
bool is_verified(const Run& run);

// "fidelity: complete, nothing was assumed", or how much was; without a line's end.
std::string accuracy_line(const Run& run);

// That, then one or two for each assumption (the first few of a kind).
std::string accuracy_text(const Run& run, const TextStyle& style = {});

// Of a model that failed: how often a value was read before that only a kernel would have computed, where
// first, and what it was taken for; "" for never. A model may fail for that alone.
std::string assumed_before_text(const Run& run);

// The lists of accuracy_json alone: {"decided_by_assumed_values", "estimated_workspaces": [...], ...}.
nlohmann::json assumptions_json(const std::vector<AssumptionRecord>& assumptions);

// "aten::item at m.py:9": the operator that was running, or what else the assumption names, and the line.
std::string place_of(const AssumptionRecord& assumption);

// "aten::item at m.py:9 read a value that only a kernel would have computed; it was taken for true, and a
// branch came of it (2 more such reads)": the first assumption that decided something. "" where none did.
std::string decision_text(const std::vector<AssumptionRecord>& assumptions);

// That as it stands above a result, with what to do; "" where nothing was decided.
std::string doubt_text(const Run& run);

// One line of an assumed value, without the line's end: "aten::item at m.py:9, 3 times, taken for true: a
// branch came of it".
std::string assumed_line(const AssumptionRecord& assumption);

// Those of a kind, the ones that decided something first.
std::vector<const AssumptionRecord*> of_kind(const std::vector<AssumptionRecord>& assumptions,
                                             Assumption kind);

}  // namespace torchmem
