// Variants of a run side by side. Ratios and differences are to the first one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchmem/run_result.h"
#include "torchmem/text_style.h"

namespace torchmem {

// One row a variant; below, what differs by category.
std::string comparison_text(const std::vector<RunResult>& outcomes, const TextStyle& style = {});

// "torchmem.compare/1" (docs/schema/compare.json).
nlohmann::json comparison_json(const std::vector<RunResult>& outcomes);

// The table for a pull request or an issue, and as a page.
std::string comparison_markdown(const std::vector<RunResult>& outcomes);
std::string comparison_html(const std::vector<RunResult>& outcomes);

}  // namespace torchmem
