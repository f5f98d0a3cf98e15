#include "engine/torch_message.h"

#include <cstdlib>
#include <sstream>
#include <string_view>
#include <vector>

namespace torchmem::engine {
namespace {

constexpr std::size_t kMaxLines = 6;

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool starts_with(const std::string& text, std::string_view prefix) { return text.compare(0, prefix.size(), prefix) == 0; }

bool starts_cpp_frames(const std::string& line) {
  return starts_with(line, "Exception raised from ") || starts_with(line, "C++ CapturedTraceback") ||
         starts_with(line, "frame #") || starts_with(line, "Device-side assertion tracking");
}

/// Reads `  File "NAME", line N, in f`; true if it is one.
bool read_file_line(const std::string& line, TorchMessage& message) {
  const std::string text = trimmed(line);
  if (!starts_with(text, "File \"")) return false;
  const auto quote = text.find('"', 6);
  if (quote == std::string::npos) return false;
  const auto number = text.find("line ", quote);
  if (number == std::string::npos) return false;
  message.file = text.substr(6, quote - 6);
  message.line = std::atoi(text.c_str() + number + 5);
  message.code.clear();
  return true;
}

bool is_marker(const std::string& line) { return line.find("<--- HERE") != std::string::npos; }

/// Where the interpreter's own part ends and the error's text begins: after the last line "SomethingError: text".
std::size_t message_start(const std::vector<std::string>& lines, std::string& first) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    const auto colon = lines[i].find(": ");
    if (colon == std::string::npos || colon == 0) continue;
    const std::string word = lines[i].substr(0, colon);
    if (word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.") != std::string::npos) continue;
    if (word.size() >= 5 && (word.find("Error") != std::string::npos || word.find("Exception") != std::string::npos)) {
      first = lines[i].substr(colon + 2);
      return i + 1;
    }
  }
  return 0;
}

}  // namespace

std::string TorchMessage::place() const {
  if (file.empty()) return code;
  std::string result = file + ":" + std::to_string(line);
  if (!code.empty()) result += ": " + code;
  return result;
}

TorchMessage parse_torch_message(const std::string& what) {
  TorchMessage message;
  std::vector<std::string> lines;
  for (auto& line : split_lines(what)) {
    if (starts_cpp_frames(line)) break;
    lines.push_back(std::move(line));
  }
  std::string previous;
  for (const auto& line : lines) {
    if (!read_file_line(line, message) && is_marker(line) && message.code.empty()) message.code = trimmed(previous);
    previous = line;
  }

  std::string first;
  const bool traceback = what.find("Traceback of TorchScript") != std::string::npos;
  std::size_t next = traceback ? message_start(lines, first) : 0;
  std::vector<std::string> kept;
  if (!first.empty()) kept.push_back(first);
  for (; next < lines.size() && kept.size() < kMaxLines; ++next) {
    const std::string text = trimmed(lines[next]);
    if (text.empty() || starts_with(text, "File \"")) {
      if (!kept.empty()) break;
      continue;
    }
    kept.push_back(text);
  }
  for (const auto& line : kept) message.text += (message.text.empty() ? "" : "\n") + line;
  return message;
}

}  // namespace torchmem::engine
