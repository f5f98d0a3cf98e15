#include "capture/dtype.h"

#include <utility>

namespace torchmem::capture {
namespace {

constexpr std::pair<std::string_view, c10::ScalarType> types[] = {
    {"f16", c10::ScalarType::Half},   {"bf16", c10::ScalarType::BFloat16},    {"f32", c10::ScalarType::Float},
    {"f64", c10::ScalarType::Double}, {"i8", c10::ScalarType::Char},          {"u8", c10::ScalarType::Byte},
    {"i16", c10::ScalarType::Short},  {"i32", c10::ScalarType::Int},          {"i64", c10::ScalarType::Long},
    {"bool", c10::ScalarType::Bool},  {"c64", c10::ScalarType::ComplexFloat},
};

}  // namespace

std::string dtype_name(c10::ScalarType type) {
  for (const auto& [name, known] : types) {
    if (known == type) return std::string(name);
  }
  return c10::toString(type);
}

std::optional<c10::ScalarType> parse_dtype(std::string_view name) {
  for (const auto& [known, type] : types) {
    if (known == name) return type;
  }
  return std::nullopt;
}

}  // namespace torchmem::capture
