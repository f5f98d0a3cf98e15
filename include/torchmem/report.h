// Results for people and for programs. Text is at most 80 columns wide and has no colours.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchmem/run.h"

namespace torchmem {

// A profile as text: what ran where, the phases, the peak and what it is made of, what was assumed, and the
// error if one ended it.
std::string profile_text(const Run& run);

// The same as JSON, "torchmem.profile/1" (docs/schema/profile.json). What was not measured is left out.
nlohmann::json profile_json(const Run& run);

// The table that torch.cuda.memory_summary() prints, to the byte, for the statistics at the run's end with
// the peaks of the whole run. Throws Error(bad_input) when the run has no statistics.
std::string memory_summary(const Run& run);

// The same of one set of statistics, nested or flat as torch.cuda.memory_stats gives them.
std::string memory_summary(const nlohmann::json& statistics, int device, bool abbreviated = false);

// What a model file holds ("torchmem.inspect/1", docs/schema/inspect.json).
std::string model_text(const Run& run);
nlohmann::json model_json(const Run& run);

// What a run file or memory snapshot holds ("torchmem.snapshot/1", docs/schema/snapshot.json).
std::string snapshot_text(const Run& run, const std::string& name);
nlohmann::json snapshot_json(const Run& run, const std::string& name);

// The run as a page that a browser opens without a network: timeline, owners, segments, blocks. UTF-8 whatever
// the names in the run are, and none of them is read as markup.
std::string html_report(const Run& run, const std::string& name);

}  // namespace torchmem
