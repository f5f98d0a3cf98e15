#include "request/json_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "text/printable.h"
#include "text/width.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t deepest = 200;
constexpr size_t brief_columns = 60;
constexpr size_t fault_columns = 160;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Follows the parser through a file.
class ParseGuard {
 public:
  explicit ParseGuard(std::string file) : file_(std::move(file)) {}

  bool operator()(json::parse_event_t event, const json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (open_.size() >= deepest)
          refuse("it is nested deeper than " + std::to_string(deepest) + " objects and lists");
        count();
        open_.push_back({event == json::parse_event_t::array_start, 0, {}, {}});
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        open_.pop_back();
        break;
      case json::parse_event_t::key:
        open_.back().name = parsed.get<std::string>();
        if (!open_.back().names.insert(open_.back().name).second)
          refuse("\"" + brief(open_.back().name) + "\" is given twice" + place());
        break;
      case json::parse_event_t::value:
        count();
        break;
    }
    return true;
  }

 private:
  struct Open {
    bool is_array = false;
    size_t items = 0;  // of an array, so far
    std::string name;  // of an object, the last one
    std::set<std::string> names;
  };

  void count() {
    if (!open_.empty()) ++open_.back().items;
  }

  // " in actions[3]": the object that is read.
  std::string place() const {
    std::string text;
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      const Open& around = open_[i];
      if (around.is_array) {
        text += "[" + std::to_string(around.items - 1) + "]";
      } else {
        text += (text.empty() ? "" : ".") + brief(around.name);
      }
    }
    return text.empty() ? "" : " in " + text;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::bad_input, file_ + ": " + why);
  }

  std::string file_;
  std::vector<Open> open_;
};

// "line 3, column 7: ...", without the library's own number of the error.
std::string fault(const json::exception& error) {
  std::string text = error.what();
  if (size_t end = text.find("] "); text.starts_with('[') && end != std::string::npos) text.erase(0, end + 2);
  for (const char* start : {"parse error at ", "syntax error "}) {
    if (text.starts_with(start)) text.erase(0, std::strlen(start));
  }
  return cut(printable(text), fault_columns);
}

}  // namespace

json read_json_file(const std::string& path, const std::string& what) {
  std::string named = what + " " + printable(path);
  auto cannot_read = [&](int error) {
    return Error(ErrorKind::bad_input, named + ": it cannot be read: " + std::strerror(error));
  };
  File file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw cannot_read(errno);
  // The first byte tells an empty file and one that only opens, as a directory does.
  int first = std::fgetc(file.get());
  if (first == EOF && std::ferror(file.get())) throw cannot_read(errno);
  if (first == EOF) throw Error(ErrorKind::bad_input, named + ": it is empty, and JSON is expected");
  std::ungetc(first, file.get());
  ParseGuard guard(named);
  try {
    return json::parse(file.get(),
                       [&](int, json::parse_event_t event, json& parsed) { return guard(event, parsed); });
  } catch (const json::exception& error) {
    if (std::ferror(file.get())) throw cannot_read(errno);
    throw Error(ErrorKind::bad_input, named + ": it is not JSON: " + fault(error));
  }
}

std::string brief(const json& value) { return cut(printable(value.dump()), brief_columns); }

std::string brief(const std::string& text) {
  // As JSON has it, so that a line feed or an escape sequence can be seen.
  std::string escaped = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return cut(printable(escaped.substr(1, escaped.size() - 2)), brief_columns);
}

}  // namespace torchmem
