#include "request/assume_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <system_error>

#include "run/utf8.h"
#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

constexpr size_t most_bytes = size_t{1} << 20;  // of the file
// Linux takes no variable of the environment that is longer than 128 KiB, its name included.
constexpr size_t most_passed = 120000;
constexpr size_t most_digits = 9;     // of a line's number
constexpr size_t shown_columns = 60;  // of a line that is wrong

constexpr std::string_view words[] = {"true", "false", "inf", "-inf", "nan"};
constexpr const char* value_kinds = "true, false, an integer, a float, inf, -inf or nan";
constexpr const char* place_kinds = "a line such as model.py:31, or an operator such as aten::item";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_comment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && (i == 0 || is_blank(line[i - 1]))) return line.substr(0, i);
  }
  return line;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(std::string_view text) {
  auto is_letter = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_letter);
}

bool is_operator(std::string_view place) {
  size_t colons = place.find("::");
  return colons != std::string_view::npos && is_word(place.substr(0, colons)) &&
         is_word(place.substr(colons + 2));
}

bool is_source_line(std::string_view place) {
  size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || trimmed(place.substr(0, colon)).empty()) return false;
  std::string_view number = place.substr(colon + 1);
  return !number.empty() && number.size() <= most_digits && number.front() != '0' &&
         std::all_of(number.begin(), number.end(), is_digit);
}

// A whole text as a number; nothing where it is none, `fits` false where it is one that is too large.
template <typename T>
std::optional<T> number(std::string_view text, bool& fits) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  fits = error == std::errc();
  return value;
}

class AssumeReader {
 public:
  explicit AssumeReader(const std::string& name) : name_(name) {}

  AssumedValues read(std::string_view text) {
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // what some editors put before UTF-8
    while (!text.empty()) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      ++line_;
      read_line(line);
    }
    if (pairs_.empty()) refuse("there is nothing in it. Expected lines PLACE: VALUE, e.g. model.py:31: true");
    if (nlohmann::json(pairs_).dump().size() > most_passed)
      refuse("it is too long: all of its lines together may take about " + std::to_string(most_passed) +
             " bytes");
    return std::move(pairs_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::bad_input, "--assume " + name_ + ": " + why);
  }

  [[noreturn]] void refuse_line(const std::string& why) const {
    refuse("line " + std::to_string(line_) + ": " + why);
  }

  static std::string quoted(std::string_view text) {
    bool is_long = text.size() > shown_columns;
    return "'" + valid_utf8(text.substr(0, shown_columns)) + (is_long ? "..." : "") + "'";
  }

  void read_line(std::string_view whole) {
    if (valid_utf8(whole) != whole) refuse_line("it is not UTF-8 text");
    std::string_view line = trimmed(without_comment(whole));
    if (line.empty()) return;
    auto is_control = [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(line.begin(), line.end(), is_control))
      refuse_line("there is a control character in it; expected plain text");
    size_t colon = line.rfind(": ");
    if (colon == std::string_view::npos)
      refuse_line("expected PLACE: VALUE, e.g. model.py:31: true, got " + quoted(line));
    std::string_view place = trimmed(line.substr(0, colon));
    if (!is_operator(place) && !is_source_line(place))
      refuse_line(quoted(place) + " is no place. Expected " + place_kinds);
    if (!places_.emplace(place).second)
      refuse_line(quoted(place) + " is there twice; expected each place once");
    pairs_.emplace_back(place, values(line.substr(colon + 2)));
  }

  // "1, 0" as "1,0".
  std::string values(std::string_view list) const {
    std::vector<std::string> texts;
    for (size_t start = 0; start <= list.size();) {
      size_t end = std::min(list.find(',', start), list.size());
      std::string_view value = trimmed(list.substr(start, end - start));
      check_value(value);
      texts.emplace_back(value);
      start = end + 1;
    }
    return joined(texts, ",");
  }

  void check_value(std::string_view text) const {
    if (std::find(std::begin(words), std::end(words), text) != std::end(words)) return;
    bool fits = true;
    if (number<int64_t>(text, fits)) {
      if (fits) return;
      refuse_line(quoted(text) + " does not fit an integer of 64 bits; a float has a point or an exponent");
    }
    // from_chars would take more words than ours for infinity and nan.
    bool is_number = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
    if (!is_number || !number<double>(text, fits))
      refuse_line(quoted(text) + " is no value. Expected " + value_kinds);
    if (!fits) refuse_line(quoted(text) + " does not fit a float of 64 bits; expected a smaller one, or inf");
  }

  const std::string& name_;
  size_t line_ = 0;
  std::set<std::string, std::less<>> places_;
  AssumedValues pairs_;
};

[[noreturn]] void refuse_file(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::bad_input,
              "--assume " + path + ": " + why + ". Expected a text file with lines PLACE: VALUE");
}

}  // namespace

AssumedValues parse_assumptions(std::string_view text, const std::string& name) {
  return AssumeReader(name).read(text);
}

AssumedValues read_assume_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) refuse_file(path, "it is a directory");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) refuse_file(path, std::string("it cannot be read: ") + std::strerror(errno));
  std::string text;
  std::array<char, 65536> buffer;
  for (size_t count = buffer.size(); count == buffer.size();) {
    count = std::fread(buffer.data(), 1, buffer.size(), file.get());
    text.append(buffer.data(), count);
    if (text.size() > most_bytes) refuse_file(path, "it is longer than 1 MiB");
  }
  if (std::ferror(file.get())) refuse_file(path, std::string("it cannot be read: ") + std::strerror(errno));
  return parse_assumptions(text, path);
}

}  // namespace torchmem
