// Results for people and for programs: every renderer of the public API. What they render is computed by what
// the other headers declare, which need none of this.
#pragma once

#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "torchmem/analysis.h"
#include "torchmem/run.h"
#include "torchmem/text_style.h"

namespace torchmem {

struct Advice;          // torchmem/advice.h
struct Diff;            // torchmem/diff.h
struct Scenario;        // torchmem/scenario.h
struct ScenarioResult;  // torchmem/scenario.h

// A profile as text: what ran where, the phases, the peak and what it is made of, what was assumed, and the
// error if one ended it.
std::string profile_text(const Analysis& analysis, const TextStyle& style = {});

// The same as JSON, "torchmem.profile/1" (docs/schema/profile.json). What was not measured is left out. All
// lists are whole but for those of single blocks: the largest `most_blocks`, and the sum of the others.
constexpr size_t default_most_blocks = 1000;
nlohmann::json profile_json(const Analysis& analysis, size_t most_blocks = default_most_blocks);
nlohmann::json profile_json(const Run& run);

// The same as a table for a pull request, in GitHub's Markdown.
std::string profile_markdown(const Analysis& analysis, size_t top);

// The table that torch.cuda.memory_summary() prints, to the byte, for the statistics at the run's end with
// the peaks of the whole run. Throws Error(bad_input) when the run has no statistics.
std::string memory_summary(const Run& run);

// The same of one set of statistics, nested or flat as torch.cuda.memory_stats gives them.
std::string memory_summary(const nlohmann::json& statistics, int device, bool abbreviated = false);

// What a model file holds ("torchmem.inspect/1", docs/schema/inspect.json).
std::string model_text(const Run& run, const TextStyle& style = {});
nlohmann::json model_json(const Run& run);

// What a run file or memory snapshot holds ("torchmem.snapshot/1", docs/schema/snapshot.json), with the
// analysis of each of its devices.
std::string snapshot_text(const Run& run, const std::string& name, const std::list<Analysis>& devices,
                          const TextStyle& style = {});
nlohmann::json snapshot_json(const Run& run, const std::string& name, const std::list<Analysis>& devices,
                             size_t most_blocks = default_most_blocks);
std::string snapshot_markdown(const Run& run, const std::string& name, const std::list<Analysis>& devices,
                              size_t top);

// How two runs differ, with at most `top` changes of each part: as text, as tables for a pull request and as
// a page; and with all of them as "torchmem.diff/1" (docs/schema/diff.json).
std::string diff_text(const Diff& diff, size_t top, const TextStyle& style = {});
std::string diff_markdown(const Diff& diff, size_t top);
std::string diff_html(const Diff& diff, size_t top);
nlohmann::json diff_json(const Diff& diff);

// What lowers a model's peak, in the same forms, and "torchmem.advise/1" (docs/schema/advise.json). `about`:
// the base run, for its info.
std::string advice_text(const Advice& advice, const Run& about, const TextStyle& style = {});
std::string advice_markdown(const Advice& advice, const Run& about);
std::string advice_html(const Advice& advice, const Run& about);
nlohmann::json advice_json(const Advice& advice, const Run& about);

// What a scenario measured, and "torchmem.scenario/1" (docs/schema/scenario.json).
std::string scenario_text(const Scenario& scenario, const ScenarioResult& result, const Run& run,
                          bool all_rows, const TextStyle& style = {});
std::string scenario_markdown(const Scenario& scenario, const ScenarioResult& result, const Run& run,
                              bool all_rows);
nlohmann::json scenario_json(const Scenario& scenario, const ScenarioResult& result, const Run& run);

// The run as a page that a browser opens without a network: timeline, owners, segments, blocks. UTF-8
// whatever the names in the run are, and none of them is read as markup. Opens on `device`, else on the one
// that holds most.
std::string html_report(const Run& run, const std::string& name, std::optional<int32_t> device = {});

}  // namespace torchmem
