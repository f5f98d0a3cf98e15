// Small pieces of text reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/width.h"
#include "torchmem/text_style.h"

namespace torchmem {

constexpr size_t report_width = 80;

std::string pad_right(std::string text, size_t width);
std::string pad_left(std::string text, size_t width);

// Words of `text` in lines of at most the style's width, each starting with `indent` blanks and ending with a
// line feed; lines of the text stay lines. A word that is longer than a line loses its middle on a terminal.
std::string wrap(std::string_view text, size_t indent, const TextStyle& style = {});

// Shortened on a terminal; elsewhere the whole text.
std::string fitted(const std::string& text, size_t width, const TextStyle& style);

// "12.3 %"; "0.0 %" when the whole is 0.
std::string percent(uint64_t part, uint64_t whole);

// "1 call", "2 calls".
std::string counted(uint64_t count, const std::string& word);

// "1.23 GiB (1,234,567 B)".
std::string bytes_exactly(uint64_t bytes);

// "forward of iteration 0", "load".
std::string phase_name(const std::string& phase, const int64_t* iteration);

}  // namespace torchmem
