// Values of somebody's file within a message: ASCII without control characters, and short.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace torchmem {

// As JSON writes it.
std::string shown(const nlohmann::json& value);

// A text without its quotes.
std::string shown_text(const std::string& text);

}  // namespace torchmem
