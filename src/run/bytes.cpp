#include "torchmem/bytes.h"

#include <spdlog/fmt/fmt.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit units[] = {
    {"", 1},
    {"b", 1},
    {"kib", 1024.0},
    {"mib", 1048576.0},
    {"gib", 1073741824.0},
    {"tib", 1099511627776.0},
    {"pib", 1125899906842624.0},
    {"kb", 1e3},
    {"mb", 1e6},
    {"gb", 1e9},
    {"tb", 1e12},
    {"pb", 1e15},
};

constexpr double most_bytes = 9223372036854775807.0;

[[noreturn]] void refuse(std::string_view text, std::string_view what, const std::string& why) {
  throw Error(ErrorKind::bad_usage, fmt::format("{}: '{}' is not a size: {}.\nExpected a number and a unit, "
                                                "e.g. 24GiB, 512MiB, 1.5GB or 1048576.",
                                                what, text, why));
}

}  // namespace

uint64_t parse_bytes(std::string_view text, std::string_view what) {
  if (text.empty()) refuse(text, what, "it is empty");
  if (text[0] == '-') refuse(text, what, "it is negative");
  size_t digits = 0;
  while (digits < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[digits])) || text[digits] == '.')) {
    ++digits;
  }
  if (digits == 0) refuse(text, what, "it does not start with a number");
  std::string_view rest = text.substr(digits);
  while (!rest.empty() && rest[0] == ' ') rest.remove_prefix(1);
  std::string name = lower_case(rest);
  const Unit* unit = nullptr;
  for (const Unit& known : units) {
    if (known.name == name) unit = &known;
  }
  if (!unit && name.size() == 1 && std::string_view("kmgtp").find(name[0]) != std::string_view::npos) {
    char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    refuse(text, what, fmt::format("'{0}' may mean {1}iB (1024) or {1}B (1000): say which", rest, letter));
  }
  if (!unit) refuse(text, what, fmt::format("'{}' is not a unit", rest));
  std::string_view number = text.substr(0, digits);
  uint64_t whole = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), whole);
  // Whole bytes exactly; everything else fits a double's 53 bits well enough to be rounded down.
  if (error == std::errc() && end == number.data() + number.size() && unit->bytes == 1) {
    if (static_cast<double>(whole) >= most_bytes) refuse(text, what, "it is larger than any memory");
    return whole;
  }
  double value = 0;
  auto [real_end, real_error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (real_error != std::errc() || real_end != number.data() + number.size()) {
    refuse(text, what, fmt::format("'{}' is not a number", number));
  }
  double bytes = std::floor(value * unit->bytes);
  if (bytes >= most_bytes) refuse(text, what, "it is larger than any memory");
  return static_cast<uint64_t>(bytes);
}

std::string format_bytes(uint64_t bytes) {
  constexpr const char* names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1023.995 && unit + 1 < std::size(names)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", value, names[unit]);
  return text;
}

std::string format_count(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, 1, ',');
  }
  return text;
}

}  // namespace torchmem
