// Words put together and compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

// With small letters for ASCII's capitals, whatever the locale; other bytes stay.
std::string lower_case(std::string_view text);

}  // namespace torchmem
