// Small pieces of text reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "torchmem/text_style.h"

namespace torchmem {

constexpr size_t report_width = 80;

// Columns of UTF-8 text on a terminal: wide characters take two, those that combine with others none.
size_t columns_of(std::string_view text);

std::string pad_right(std::string text, size_t width);
std::string pad_left(std::string text, size_t width);

// Words of `text` in lines of at most the style's width, each starting with `indent` blanks and ending with a
// line feed; lines of the text stay lines. A word that is longer than a line loses its middle on a terminal.
std::string wrap(std::string_view text, size_t indent, const TextStyle& style = {});

// At most `width` columns of `text`, its middle replaced by "..." when it is longer.
std::string shorten(const std::string& text, size_t width);
// That on a terminal; elsewhere the whole text.
std::string fitted(const std::string& text, size_t width, const TextStyle& style);

// The same with its start replaced: of a path the end says most.
std::string cut_start(const std::string& text, size_t width);

// At most `width` columns of `text`, its end replaced by "..." when it is longer.
std::string cut(const std::string& text, size_t width);

// "12.3 %"; "0.0 %" when the whole is 0.
std::string percent(uint64_t part, uint64_t whole);

// "1 call", "2 calls".
std::string counted(uint64_t count, const std::string& word);

// "1.23 GiB (1,234,567 B)".
std::string bytes_exactly(uint64_t bytes);

// "forward of iteration 0", "load".
std::string phase_name(const std::string& phase, const int64_t* iteration);

}  // namespace torchmem
