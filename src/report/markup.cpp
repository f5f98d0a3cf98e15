#include "report/markup.h"

#include <cctype>

#include "run/utf8.h"

namespace torchmem {

std::string xml(std::string_view text) {
  std::string result;
  for (char c : valid_utf8(std::string(text))) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        // XML has no other control characters.
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  constexpr std::string_view acting = "\\`*_[]#|~@$";
  std::string result;
  for (char c : valid_utf8(std::string(text))) {
    if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (std::iscntrl(static_cast<unsigned char>(c))) {
      result += ' ';
    } else {
      if (acting.find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  const bool is_entry = result.starts_with("- ") || result.starts_with("+ ");
  return is_entry ? "\\" + result : result;
}

}  // namespace torchmem
