#include "request/spec.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

enum class Class { floating, integer, boolean, complex };

struct DataType {
  std::string_view name;
  uint64_t bytes;
  Class kind;
  uint64_t largest;  // of an integer
};

constexpr DataType data_types[] = {
    {"f16", 2, Class::floating, 0},        {"bf16", 2, Class::floating, 0},
    {"f32", 4, Class::floating, 0},        {"f64", 8, Class::floating, 0},
    {"i8", 1, Class::integer, INT8_MAX},   {"u8", 1, Class::integer, UINT8_MAX},
    {"i32", 4, Class::integer, INT32_MAX}, {"i64", 8, Class::integer, INT64_MAX},
    {"bool", 1, Class::boolean, 1},        {"c64", 8, Class::complex, 0},
};

bool is_dimension_name(std::string_view text) {
  return !text.empty() && text[0] >= 'A' && text[0] <= 'Z' &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isupper(c) || std::isdigit(c) || c == '_'; });
}

constexpr std::string_view form =
    "Expected [NAME=]DTYPE:DIMxDIM...[:FILL], e.g. f32:32x3x224x224, or @file.pt.";

class SpecParser {
 public:
  SpecParser(std::string_view text, Dimensions dimensions) : text_(text), dimensions_(dimensions) {}

  Spec parse() {
    std::string_view rest = text_;
    Spec spec;
    size_t equals = rest.find('=');
    if (equals != std::string_view::npos && equals < rest.find(':') && equals < rest.find('@')) {
      spec.name = rest.substr(0, equals);
      check_name(spec.name);
      rest.remove_prefix(equals + 1);
    }
    if (rest.starts_with('@')) {
      spec.value = {{"file", check_file(std::string(rest.substr(1)))}};
      return spec;
    }
    size_t first = rest.find(':');
    if (first == std::string_view::npos) {
      refuse(find_type(rest) ? "the dimensions are missing" : "there is no ':' between type and dimensions");
    }
    const DataType& type = parse_type(rest.substr(0, first));
    rest.remove_prefix(first + 1);
    size_t second = rest.find(':');
    json tensor = {
        {"dtype", type.name}, {"shape", parse_shape(type, rest.substr(0, second))}, {"spec", text_}};
    std::optional<std::string_view> fill;
    if (second != std::string_view::npos) fill = rest.substr(second + 1);
    parse_fill(type, fill, tensor);
    spec.value = {{"tensor", std::move(tensor)}};
    return spec;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::bad_usage,
                "input '" + std::string(text_) + "': " + why + ".\n" + std::string(form));
  }

  static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

  void check_name(const std::string& name) const {
    bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
                 std::all_of(name.begin(), name.end(),
                             [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; });
    if (!valid) refuse(quoted(name) + " is not an argument's name");
  }

  std::string check_file(const std::string& path) const {
    std::error_code error;
    if (path.empty()) refuse("the file's name after '@' is missing");
    if (!std::filesystem::is_regular_file(path, error)) refuse("there is no file " + quoted(path));
    return path;
  }

  static const DataType* find_type(std::string_view name) {
    for (const DataType& type : data_types) {
      if (type.name == name) return &type;
    }
    return nullptr;
  }

  const DataType& parse_type(std::string_view name) const {
    if (const DataType* type = find_type(name)) return *type;
    std::vector<std::string> known;
    for (const DataType& type : data_types) known.emplace_back(type.name);
    refuse("unknown type " + quoted(name) + "; types: " + joined(known));
  }

  json parse_shape(const DataType& type, std::string_view text) const {
    json shape = json::array();
    if (text == "scalar") return shape;
    if (text.empty()) refuse("the dimensions are missing (a tensor without any is DTYPE:scalar)");
    uint64_t limit = static_cast<uint64_t>(INT64_MAX) / type.bytes;
    uint64_t elements = 1;
    bool too_many = false;
    for (size_t position = 1; !text.empty(); ++position) {
      size_t end = text.find('x');
      if (dimensions_ == Dimensions::numbers_and_names && is_dimension_name(text.substr(0, end))) {
        shape.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
        if (text.empty()) refuse("a dimension is missing after the last 'x'");
        continue;
      }
      uint64_t dimension = parse_dimension(text.substr(0, end), position);
      shape.push_back(dimension);
      // PyTorch multiplies the dimensions that are not 0, too.
      uint64_t factor = std::max<uint64_t>(dimension, 1);
      too_many = too_many || elements > limit / factor;
      elements = too_many ? elements : elements * factor;
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
      if (text.empty()) refuse("a dimension is missing after the last 'x'");
    }
    if (too_many) refuse("so many elements need more than 2^63 bytes");
    return shape;
  }

  uint64_t parse_dimension(std::string_view text, size_t position) const {
    std::string which = "dimension " + std::to_string(position);
    if (text.empty()) refuse(which + " is empty");
    if (text[0] == '-')
      refuse(which + " is negative: " + quoted(text) + "; a dimension is a whole number from 0 on");
    uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range || value > static_cast<uint64_t>(INT64_MAX)) {
      refuse(which + " is larger than 2^63-1: " + quoted(text));
    }
    if (error != std::errc() || end != text.data() + text.size()) {
      refuse(which + " is not a whole number: " + quoted(text));
    }
    return value;
  }

  void parse_fill(const DataType& type, std::optional<std::string_view> fill, json& tensor) const {
    if (!fill) {
      bool random = type.kind == Class::floating || type.kind == Class::complex;
      tensor["fill"] = random ? "randn" : type.kind == Class::boolean ? "ones" : "zeros";
      return;
    }
    size_t equals = fill->find('=');
    std::string_view name = fill->substr(0, equals);
    bool has_argument = equals != std::string_view::npos;
    std::string_view argument = has_argument ? fill->substr(equals + 1) : std::string_view();
    bool wants_argument = name == "value" || name == "below";
    if (name != "randn" && name != "zeros" && name != "ones" && name != "arange" && !wants_argument) {
      refuse("unknown fill " + quoted(*fill) + "; fills: randn, zeros, ones, value=X, below=N, arange");
    }
    if (wants_argument && (!has_argument || argument.empty())) {
      refuse("fill " + quoted(name) + " needs a number: " + std::string(name) + "=N");
    }
    if (!wants_argument && has_argument) refuse("fill " + quoted(name) + " takes no value");
    if (name == "randn" && (type.kind == Class::integer || type.kind == Class::boolean)) {
      refuse("fill 'randn' makes no " + std::string(type.name) +
             "; use below=N, zeros, ones, value=X or arange");
    }
    if (name == "arange" && type.kind == Class::boolean)
      refuse("fill 'arange' makes no bool; use zeros or ones");
    tensor["fill"] = name;
    if (name == "below") tensor["below"] = parse_below(type, argument);
    if (name == "value") tensor["value"] = parse_value(type, argument);
  }

  uint64_t parse_below(const DataType& type, std::string_view text) const {
    if (type.kind != Class::integer)
      refuse("fill 'below=" + std::string(text) + "' is for whole numbers, not for " +
             std::string(type.name));
    uint64_t bound = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound);
    if (error != std::errc() || end != text.data() + text.size() || bound == 0) {
      refuse("below=" + std::string(text) + " is not a whole number of at least 1");
    }
    if (bound - 1 > type.largest) {
      refuse("below=" + std::string(text) + " is more than " + std::string(type.name) +
             " can hold (at most " + std::to_string(type.largest) + ")");
    }
    return bound;
  }

  json parse_value(const DataType& type, std::string_view text) const {
    const char* end_of_text = text.data() + text.size();
    if (type.kind == Class::boolean) {
      if (text == "true" || text == "1") return true;
      if (text == "false" || text == "0") return false;
      refuse("value=" + std::string(text) + " is not true or false");
    }
    if (type.kind == Class::integer) {
      int64_t value = 0;
      auto [end, error] = std::from_chars(text.data(), end_of_text, value);
      int64_t least = type.name == "u8" ? 0 : -static_cast<int64_t>(type.largest) - 1;
      bool fits = error == std::errc() && end == end_of_text;
      if (!fits || value < least || value > static_cast<int64_t>(type.largest)) {
        refuse("value=" + std::string(text) + " is not a whole number that " + std::string(type.name) +
               " can hold");
      }
      return value;
    }
    double value = 0;
    auto [end, error] = std::from_chars(text.data(), end_of_text, value);
    if (error != std::errc() || end != end_of_text || !std::isfinite(value)) {
      refuse("value=" + std::string(text) + " is not a finite number");
    }
    return value;
  }

  std::string_view text_;
  Dimensions dimensions_;
};

}  // namespace

Spec parse_spec(std::string_view text, Dimensions dimensions) { return SpecParser(text, dimensions).parse(); }

Arguments parse_inputs(const std::vector<std::string>& specs, Dimensions dimensions) {
  Arguments inputs;
  for (const std::string& text : specs) {
    Spec spec = parse_spec(text, dimensions);
    if (spec.name.empty()) {
      inputs.positional.push_back(std::move(spec.value));
    } else if (!inputs.named.emplace(spec.name, std::move(spec.value)).second) {
      throw Error(ErrorKind::bad_usage,
                  "input '" + text + "': the argument '" + spec.name + "' is given twice");
    }
  }
  return inputs;
}

}  // namespace torchmem
