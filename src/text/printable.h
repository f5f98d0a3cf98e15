// Text from elsewhere made fit for a terminal.
#pragma once

#include <string>

namespace torchmem {

// A name that somebody else gave, with nothing in it that a terminal would act on.
std::string printable(const std::string& text);
// Likewise a text of several lines, which stay.
std::string printable_lines(const std::string& text);

}  // namespace torchmem
