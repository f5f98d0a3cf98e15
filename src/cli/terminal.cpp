#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace torchmem {

namespace {

constexpr size_t usual_columns = 80;  // of a terminal that does not say
constexpr size_t least_columns = 40;  // what no table is narrower than
constexpr size_t most_columns = 200;  // a line that is longer is hard to follow

std::optional<size_t> asked_for() {
  const char* given = std::getenv("COLUMNS");
  if (!given) return std::nullopt;
  std::string_view text = given;
  size_t columns = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
  bool is_number = error == std::errc() && end == text.data() + text.size() && columns > 0;
  return is_number ? std::optional(columns) : std::nullopt;
}

}  // namespace

bool is_terminal() { return isatty(STDOUT_FILENO) != 0; }

std::optional<size_t> output_columns() {
  std::optional<size_t> columns = asked_for();
  if (!columns && !is_terminal()) return std::nullopt;
  if (!columns) {
    winsize size{};
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    columns = is_known ? size.ws_col : usual_columns;
  }
  return std::clamp(*columns, least_columns, most_columns);
}

TextStyle output_style() {
  TextStyle style;
  if (std::optional<size_t> columns = output_columns()) {
    style.width = *columns;
    style.cuts = true;
  }
  return style;
}

}  // namespace torchmem
