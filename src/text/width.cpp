#include "text/width.h"

#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>

namespace torchmem {

namespace {

struct Character {
  wchar_t code = 0;  // 0: no UTF-8, a byte by itself
  size_t bytes = 1;
};

Character character_at(std::string_view text, size_t at) {
  auto lead = static_cast<uint8_t>(text[at]);
  size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (bytes == 1) return {lead < 0x80 ? static_cast<wchar_t>(lead) : 0, 1};
  auto code = static_cast<uint32_t>(lead & (0x7f >> bytes));
  for (size_t i = 1; i < bytes; ++i) {
    if (at + i >= text.size() || (static_cast<uint8_t>(text[at + i]) & 0xc0) != 0x80) return {0, i};
    code = code << 6 | (static_cast<uint8_t>(text[at + i]) & 0x3f);
  }
  return {static_cast<wchar_t>(code), bytes};
}

// wcwidth goes by the thread's locale, and what a report says may not.
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(utf8())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
  }
  locale_t before_;
};

size_t width_of(wchar_t code) {
  if (code < 0x80) return 1;  // control characters were replaced before
  int columns = wcwidth(code);
  return columns < 0 ? 1 : static_cast<size_t>(columns);
}

// The longest start of the text that fits into so many columns, in bytes.
size_t bytes_within(std::string_view text, size_t columns) {
  Utf8Locale locale;
  size_t at = 0;
  while (at < text.size()) {
    Character character = character_at(text, at);
    size_t width = width_of(character.code);
    if (width > columns) break;
    columns -= width;
    at += character.bytes;
  }
  return at;
}

// Where its last so many columns start.
size_t start_of_last(std::string_view text, size_t columns) {
  size_t all = columns_of(text);
  size_t at = bytes_within(text, all - std::min(all, columns));
  // A wide character that would stick out is left out.
  while (at < text.size() && columns_of(text.substr(at)) > columns) at += character_at(text, at).bytes;
  return at;
}

}  // namespace

size_t columns_of(std::string_view text) {
  bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (is_plain) return text.size();
  Utf8Locale locale;
  size_t columns = 0;
  for (size_t at = 0; at < text.size();) {
    Character character = character_at(text, at);
    columns += width_of(character.code);
    at += character.bytes;
  }
  return columns;
}

std::string shorten(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return text;
  // The end says more than the start: a file's name and line.
  size_t kept = width - std::min<size_t>(width, 3);
  size_t front = kept / 3;
  return text.substr(0, bytes_within(text, front)) + "..." + text.substr(start_of_last(text, kept - front));
}

std::string cut_start(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return text;
  return "..." + text.substr(start_of_last(text, width - std::min<size_t>(width, 3)));
}

std::string cut(const std::string& text, size_t width) {
  if (columns_of(text) <= width) return text;
  return text.substr(0, bytes_within(text, width - std::min<size_t>(width, 3))) + "...";
}

}  // namespace torchmem
