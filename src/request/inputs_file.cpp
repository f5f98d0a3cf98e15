#include "request/json_file.h"
#include "request/spec.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr int max_depth = 64;

class InputsFile {
 public:
  InputsFile(const std::string& path, Dimensions dimensions) : path_(path), dimensions_(dimensions) {}

  Arguments read() {
    json document = read_json_file(path_, "inputs file");
    Arguments inputs;
    if (document.is_array()) {
      inputs.positional = convert_all(document, "", 0).get<std::vector<json>>();
    } else if (document.is_object()) {
      for (const auto& [name, item] : document.items()) inputs.named[name] = convert(item, "/" + name, 0);
    } else {
      refuse("", "expected an array (positional arguments) or an object (named ones)");
    }
    return inputs;
  }

 private:
  [[noreturn]] void refuse(const std::string& place, const std::string& why) const {
    throw Error(ErrorKind::bad_input,
                "inputs file " + path_ + (place.empty() ? "" : ", at " + place) + ": " + why);
  }

  json convert_all(const json& array, const std::string& place, int depth) const {
    json values = json::array();
    for (size_t i = 0; i < array.size(); ++i) {
      values.push_back(convert(array[i], place + "/" + std::to_string(i), depth + 1));
    }
    return values;
  }

  json convert(const json& item, const std::string& place, int depth) const {
    if (depth > max_depth) refuse(place, "values are nested deeper than " + std::to_string(max_depth));
    if (item.is_string()) return convert_spec(item.get<std::string>(), place);
    if (item.is_array()) return {{"list", convert_all(item, place, depth)}};
    if (!item.is_object()) return {{"scalar", item}};
    for (const auto& [name, inner] : item.items()) {
      if (!name.starts_with('$')) continue;
      if (item.size() != 1) refuse(place, "'" + name + "' must be the object's only key");
      if (name == "$string" && inner.is_string()) return {{"string", inner}};
      if (name == "$tuple" && inner.is_array()) return {{"tuple", convert_all(inner, place, depth)}};
      refuse(place, "expected {\"$string\": TEXT} or {\"$tuple\": [...]}, got '" + name + "'");
    }
    json values = json::object();
    for (const auto& [name, inner] : item.items())
      values[name] = convert(inner, place + "/" + name, depth + 1);
    return {{"dict", std::move(values)}};
  }

  json convert_spec(const std::string& text, const std::string& place) const {
    try {
      Spec spec = parse_spec(text, dimensions_);
      if (!spec.name.empty()) refuse(place, "'" + text + "' has a name; in a file the key is the name");
      return std::move(spec.value);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::bad_input) throw;
      refuse(place, std::string(error.what()) + "\nA text that is no tensor is written {\"$string\": TEXT}.");
    }
  }

  const std::string& path_;
  Dimensions dimensions_;
};

}  // namespace

Arguments read_inputs_file(const std::string& path, Dimensions dimensions) {
  return InputsFile(path, dimensions).read();
}

}  // namespace torchmem
