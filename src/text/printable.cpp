#include "text/printable.h"

#include <algorithm>
#include <cstdint>

namespace torchmem {

std::string printable(const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<uint8_t>(text[i]);
    auto next = static_cast<uint8_t>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // a control character as UTF-8 has it
      result += '?';
      ++i;
    } else {
      result += byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
  }
  return result;
}

std::string printable_lines(const std::string& text) {
  std::string result;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find('\n', start), text.size());
    result += (start > 0 ? "\n" : "") + printable(text.substr(start, end - start));
    start = end + 1;
  }
  return result;
}

}  // namespace torchmem
