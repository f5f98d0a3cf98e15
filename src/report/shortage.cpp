#include "report/shortage.h"

#include <cstdlib>
#include <optional>
#include <string_view>

namespace torchmem {

namespace {

constexpr std::string_view request_start = "Tried to allocate ";
constexpr std::string_view unallocated_end = " is reserved by PyTorch but unallocated";
constexpr std::string_view advice_start = " If reserved but unallocated memory is large";
constexpr std::string_view documentation_start = "See documentation";
constexpr double least_share = 0.1;

// "14.00 MiB", as c10::CachingAllocator::format_size has it, at the start of the text.
std::optional<double> size_at(const std::string& text, size_t start) {
  char* end = nullptr;
  double size = std::strtod(text.c_str() + start, &end);
  if (end == text.c_str() + start) return std::nullopt;
  const std::string_view unit(end);
  if (unit.starts_with(" bytes")) return size;
  for (const char* name : {" KiB", " MiB", " GiB"}) {
    size *= 1024;
    if (unit.starts_with(name)) return size;
  }
  return std::nullopt;
}

std::optional<double> unallocated_bytes(const std::string& message) {
  const size_t end = message.find(unallocated_end);
  if (end == std::string::npos) return std::nullopt;
  const size_t unit = message.rfind(' ', end - 1);
  if (unit == std::string::npos || unit == 0) return std::nullopt;
  const size_t number = message.rfind(' ', unit - 1);
  return number == std::string::npos ? std::nullopt : size_at(message, number + 1);
}

}  // namespace

std::string without_vain_advice(const std::string& message) {
  const size_t request = message.find(request_start);
  const size_t advice = message.find(advice_start);
  if (request == std::string::npos || advice == std::string::npos) return message;
  const std::optional<double> asked = size_at(message, request + request_start.size());
  const std::optional<double> unallocated = unallocated_bytes(message);
  if (!asked || !unallocated || *unallocated >= *asked * least_share) return message;
  const size_t documentation = message.find(documentation_start, advice);
  const size_t end =
      documentation == std::string::npos ? message.find('\n', advice) : message.find(')', documentation);
  std::string rest = end == std::string::npos ? "" : message.substr(end);
  if (rest.starts_with(')')) rest.erase(0, 1);
  return message.substr(0, advice) + rest;
}

}  // namespace torchmem
