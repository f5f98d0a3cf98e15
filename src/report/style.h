// How a text report is dressed: colours, bars, columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/printable.h"
#include "torchmem/run.h"
#include "torchmem/text_style.h"

namespace torchmem {

// The terminal's own colours, by the numbers of ECMA-48's "select graphic rendition".
enum class Tint : uint8_t {
  bold = 1,
  dim = 2,
  red = 31,
  green = 32,
  yellow = 33,
  blue = 34,
  magenta = 35,
  cyan = 36,
};

// What a category's bar is drawn in, the same in every table.
Tint tint_of(Category category);

// The text in that tint where there are colours; it is to be padded before.
std::string tinted(const TextStyle& style, Tint tint, const std::string& text);

// A bar of `part` within `whole`, at most `columns` wide, without blanks behind it: in eighths of a column
// with block characters, else in whole '#'.
std::string bar(const TextStyle& style, uint64_t part, uint64_t whole, size_t columns);

// The column of names in lines of a name and a value.
struct NameColumn {
  size_t width;
  size_t indent = 0;
  std::optional<Tint> tint = {};
};
// Such a line, ended: the value has what is left of the width.
std::string named_line(const NameColumn& names, const std::string& name, const std::string& value,
                       const TextStyle& style, std::optional<Tint> tint = {});

}  // namespace torchmem
