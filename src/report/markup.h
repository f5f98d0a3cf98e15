// Text in documents of markup.
#pragma once

#include <string>
#include <string_view>

namespace torchmem {

// Any text as an XML or HTML document's text or quoted attribute; what is no UTF-8 is replaced.
std::string xml(std::string_view text);

// Text that Markdown shows as it is, also within a table: punctuation that it might act on gets a backslash,
// HTML's an entity, and a line's end becomes a blank.
std::string markdown_text(std::string_view text);

}  // namespace torchmem
