#include "report/text.h"

#include <cstdio>

#include "torchmem/bytes.h"

namespace torchmem {

namespace {

// The byte at which the code point `column` starts.
size_t byte_of(std::string_view text, size_t column) {
  size_t byte = 0;
  while (byte < text.size() && column > 0) {
    ++byte;
    while (byte < text.size() && (static_cast<uint8_t>(text[byte]) & 0xc0) == 0x80) ++byte;
    --column;
  }
  return byte;
}

void wrap_line(std::string_view line, size_t indent, std::string& result) {
  std::string current;
  auto flush = [&] {
    result += std::string(indent, ' ') + current + "\n";
    current.clear();
  };
  size_t room = report_width - indent;
  while (!line.empty()) {
    size_t end = line.find(' ');
    std::string word = shorten(std::string(line.substr(0, end)), room);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    if (word.empty()) continue;
    if (!current.empty() && columns_of(current) + 1 + columns_of(word) > room) flush();
    current += (current.empty() ? "" : " ") + word;
  }
  if (!current.empty()) flush();
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  for (char c : text) columns += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  return columns;
}

std::string pad_right(std::string text, size_t width) {
  size_t columns = columns_of(text);
  if (columns < width) text.append(width - columns, ' ');
  return text;
}

std::string pad_left(std::string text, size_t width) {
  size_t columns = columns_of(text);
  return columns < width ? std::string(width - columns, ' ') + text : text;
}

std::string wrap(std::string_view text, size_t indent) {
  std::string result;
  while (!text.empty()) {
    size_t end = text.find('\n');
    wrap_line(text.substr(0, end), indent, result);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::string shorten(const std::string& text, size_t width) {
  size_t columns = columns_of(text);
  if (columns <= width) return text;
  // The end says more than the start: a file's name and line.
  size_t kept = width - 3;
  size_t front = kept / 3;
  size_t back = kept - front;
  return text.substr(0, byte_of(text, front)) + "..." + text.substr(byte_of(text, columns - back));
}

std::string cut(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return text;
  return text.substr(0, byte_of(text, width - 3)) + "...";
}

std::string percent(uint64_t part, uint64_t whole) {
  double value = whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", value);
  return text;
}

std::string counted(uint64_t count, const std::string& word) {
  return format_count(count) + " " + word + (count == 1 ? "" : "s");
}

std::string bytes_exactly(uint64_t bytes) {
  if (bytes < 1024) return format_bytes(bytes);
  return format_bytes(bytes) + " (" + format_count(bytes) + " B)";
}

std::string phase_name(const std::string& phase, const int64_t* iteration) {
  return iteration ? phase + " of iteration " + std::to_string(*iteration) : phase;
}

}  // namespace torchmem
