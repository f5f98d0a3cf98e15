// How much room text takes on a terminal, and text cut to a room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torchmem {

// Columns of UTF-8 text on a terminal: wide characters take two, those that combine with others none.
size_t columns_of(std::string_view text);

// At most `width` columns of `text`, its middle replaced by "..." when it is longer.
std::string shorten(const std::string& text, size_t width);

// The same with its start replaced: of a path the end says most.
std::string cut_start(const std::string& text, size_t width);

// The same with its end replaced.
std::string cut(const std::string& text, size_t width);

}  // namespace torchmem
