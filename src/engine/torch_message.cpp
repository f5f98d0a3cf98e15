#include "engine/torch_message.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace torchmem::engine {
namespace {

constexpr std::size_t max_lines = 6;

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

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool starts_cpp_frames(const std::string& line) {
  return starts_with(line, "Exception raised from ") || starts_with(line, "C++ CapturedTraceback") ||
         starts_with(line, "frame #") || starts_with(line, "Device-side assertion tracking");
}

struct Place {
  std::string file;
  int line = 0;
  std::string code;

  bool in_pytorch() const {
    return file.find("/torch/") != std::string::npos && file.find("site-packages") != std::string::npos;
  }
};

// Reads `  File "NAME", line N, in f`; nothing if it is another line.
std::optional<Place> read_place(const std::string& line) {
  const std::string text = trimmed(line);
  if (!starts_with(text, "File \"")) return std::nullopt;
  const auto quote = text.find('"', 6);
  if (quote == std::string::npos) return std::nullopt;
  const auto number = text.find("line ", quote);
  if (number == std::string::npos) return std::nullopt;
  return Place{text.substr(6, quote - 6), std::atoi(text.c_str() + number + 5), ""};
}

bool is_marker(const std::string& line) { return line.find("<--- HERE") != std::string::npos; }

// The traceback's places, outermost first; of two tracebacks (serialized code, then the original), the last
// one's.
std::vector<Place> places(const std::vector<std::string>& lines) {
  std::vector<Place> found;
  std::string previous;
  for (const auto& line : lines) {
    if (starts_with(line, "Traceback of TorchScript, original code")) found.clear();
    if (auto place = read_place(line)) {
      found.push_back(std::move(*place));
    } else if (is_marker(line) && !found.empty() && found.back().code.empty()) {
      found.back().code = trimmed(previous);
    }
    previous = line;
  }
  return found;
}

// Where the interpreter's own part ends and the error's text begins: after the last line "SomethingError:
// text".
std::size_t message_start(const std::vector<std::string>& lines, std::string& first) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    const auto colon = lines[i].find(": ");
    if (colon == std::string::npos || colon == 0) continue;
    const std::string word = lines[i].substr(0, colon);
    if (word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.") != std::string::npos)
      continue;
    if (word.size() >= 5 &&
        (word.find("Error") != std::string::npos || word.find("Exception") != std::string::npos)) {
      first = lines[i].substr(colon + 2);
      return i + 1;
    }
  }
  return 0;
}

}  // namespace

std::string TorchMessage::place() const {
  if (file.empty()) return "";
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
  const auto all = places(lines);
  if (!all.empty()) {
    const auto own =
        std::find_if(all.rbegin(), all.rend(), [](const Place& place) { return !place.in_pytorch(); });
    const Place& place = own == all.rend() ? all.back() : *own;
    message.file = place.file;
    message.line = place.line;
    message.code = place.code;
  }

  std::string first;
  const bool traceback = what.find("Traceback of TorchScript") != std::string::npos;
  std::size_t next = traceback ? message_start(lines, first) : 0;
  std::vector<std::string> kept;
  if (!first.empty()) kept.push_back(first);
  for (; next < lines.size() && kept.size() < max_lines; ++next) {
    const std::string text = trimmed(lines[next]);
    if (text.empty() || starts_with(text, "File \"")) {
      if (!kept.empty()) break;
      continue;
    }
    kept.push_back(text);
  }
  for (const auto& line : kept) message.text += (message.text.empty() ? "" : " ") + line;
  return message;
}

}  // namespace torchmem::engine
