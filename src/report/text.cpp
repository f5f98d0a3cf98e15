#include "report/text.h"

#include <spdlog/fmt/fmt.h>

#include "torchmem/bytes.h"

namespace torchmem {

namespace {

void wrap_line(std::string_view line, size_t indent, const TextStyle& style, std::string& result) {
  std::string current;
  auto flush = [&] {
    result += std::string(indent, ' ') + current + "\n";
    current.clear();
  };
  size_t room = style.width - indent;
  while (!line.empty()) {
    size_t end = line.find(' ');
    std::string word = fitted(std::string(line.substr(0, end)), room, style);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    if (word.empty()) continue;
    if (!current.empty() && columns_of(current) + 1 + columns_of(word) > room) flush();
    current += (current.empty() ? "" : " ") + word;
  }
  if (!current.empty()) flush();
}

}  // namespace

std::string pad_right(std::string text, size_t width) {
  size_t columns = columns_of(text);
  if (columns < width) text.append(width - columns, ' ');
  return text;
}

std::string pad_left(std::string text, size_t width) {
  size_t columns = columns_of(text);
  if (columns < width) text.insert(0, width - columns, ' ');
  return text;
}

std::string wrap(std::string_view text, size_t indent, const TextStyle& style) {
  std::string result;
  while (!text.empty()) {
    size_t end = text.find('\n');
    wrap_line(text.substr(0, end), indent, style, result);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::string fitted(const std::string& text, size_t width, const TextStyle& style) {
  return style.cuts ? shorten(text, width) : text;
}

std::string percent(uint64_t part, uint64_t whole) {
  double value = whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", value);
}

std::string counted(uint64_t count, const std::string& word) {
  return fmt::format("{} {}{}", format_count(count), word, count == 1 ? "" : "s");
}

std::string bytes_exactly(uint64_t bytes) {
  if (bytes < 1024) return format_bytes(bytes);
  return fmt::format("{} ({} B)", format_bytes(bytes), format_count(bytes));
}

std::string phase_name(const std::string& phase, const int64_t* iteration) {
  return iteration ? fmt::format("{} of iteration {}", phase, *iteration) : phase;
}

}  // namespace torchmem
