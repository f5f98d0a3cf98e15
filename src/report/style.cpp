#include "report/style.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "report/text.h"

namespace torchmem {

namespace {

constexpr std::array<Tint, category_count> category_tints = {
    Tint::blue,     // parameters
    Tint::blue,     // buffers
    Tint::green,    // gradients
    Tint::cyan,     // optimizer_state
    Tint::blue,     // inputs
    Tint::yellow,   // activations
    Tint::yellow,   // outputs
    Tint::magenta,  // temporaries
    Tint::magenta,  // workspaces
    Tint::red,      // other
};

}  // namespace

Tint tint_of(Category category) { return category_tints[static_cast<size_t>(category)]; }

std::string tinted(const TextStyle& style, Tint tint, const std::string& text) {
  if (!style.colours || text.empty()) return text;
  return "\033[" + std::to_string(static_cast<int>(tint)) + "m" + text + "\033[0m";
}

std::string bar(const TextStyle& style, uint64_t part, uint64_t whole, size_t columns) {
  constexpr size_t steps = 8;
  constexpr const char* ends[steps] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (whole == 0) return "";
  double share = std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
  double length = share * static_cast<double>(columns);
  if (!style.blocks) return std::string(static_cast<size_t>(std::lround(length)), '#');
  auto eighths = static_cast<size_t>(std::lround(length * steps));
  std::string text;
  for (size_t i = 0; i < eighths / steps; ++i) text += "█";
  return text + ends[eighths % steps];
}

std::string named_line(const NameColumn& names, const std::string& name, const std::string& value,
                       const TextStyle& style, std::optional<Tint> tint) {
  const size_t start = names.indent + names.width;
  const std::string title = pad_right(name, names.width);
  const std::string rest = fitted(value, style.width - std::min(style.width, start), style);
  return std::string(names.indent, ' ') + (names.tint ? tinted(style, *names.tint, title) : title) +
         (tint ? tinted(style, *tint, rest) : rest) + "\n";
}

}  // namespace torchmem
