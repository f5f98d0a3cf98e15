#include "analyze/foreign_text.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t shown_bytes = 60;

}  // namespace

std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  if (text.size() > shown_bytes) text.replace(shown_bytes - 3, std::string::npos, "...");
  return text;
}

std::string shown_text(const std::string& text) {
  std::string quoted = shown(text);
  return quoted.substr(1, quoted.size() - (quoted.ends_with('"') ? 2 : 1));
}

}  // namespace torchmem
