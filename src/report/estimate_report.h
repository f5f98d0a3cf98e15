// Estimates as a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "torchmem/estimate.h"
#include "torchmem/text_style.h"

namespace torchmem {

std::string estimate_text(const std::vector<Estimate>& estimates, const EstimateOptions& options,
                          const TextStyle& style = {});

// The same as a table for a pull request, and as a page.
std::string estimate_markdown(const std::vector<Estimate>& estimates, const EstimateOptions& options);
std::string estimate_html(const std::vector<Estimate>& estimates, const EstimateOptions& options);

// "torchmem.estimate/1" (docs/schema/estimate.json).
nlohmann::json estimate_json(const std::vector<Estimate>& estimates, const EstimateOptions& options);

}  // namespace torchmem
