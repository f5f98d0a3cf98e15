// Text from elsewhere made fit for JSON and pickles.
#pragma once

#include <string>
#include <string_view>

namespace torchmem {

// `text` with every byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace torchmem
