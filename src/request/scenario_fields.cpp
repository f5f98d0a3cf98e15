#include "request/scenario_fields.h"

#include <algorithm>
#include <charconv>

#include "request/json_file.h"
#include "text/printable.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

std::string in_quotes(const std::string& text) { return "'" + brief(text) + "'"; }

std::string choice(const std::vector<std::string>& names) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + brief(names[i]);
  if (names.size() > most) text += " and " + format_count(names.size() - most) + " more";
  return text;
}

std::string said_of(const std::string& given, const Error& error) {
  std::string message = error.what();
  if (size_t start = message.find(given); start != std::string::npos)
    message.replace(start, given.size(), brief(given));
  return message;
}

std::string at(const std::string& place, const std::string& field) {
  return place.empty() ? field : place + "." + field;
}

ScenarioFields::ScenarioFields(const std::string& path, const std::map<std::string, std::string>& given)
    : path_(path), given_(given), variables_(given) {}

std::string ScenarioFields::where(const std::string& place) const {
  return "scenario " + printable(path_) + (place.empty() ? "" : ", at " + place);
}

void ScenarioFields::refuse(const std::string& place, const std::string& why) const {
  throw Error(ErrorKind::bad_input, where(place) + ": " + why);
}

void ScenarioFields::check_fields(const json& object, const std::string& place,
                                  const FieldNames& known) const {
  for (const auto& [name, value] : object.items()) {
    if (known.count(name)) continue;
    refuse(at(place, brief(name)), "there is no such field here; expected " +
                                       joined(std::vector<std::string>(known.begin(), known.end())));
  }
}

void ScenarioFields::read_variables(const json& document) {
  FieldNames known;
  if (document.contains("variables")) {
    const json& object = document["variables"];
    if (!object.is_object()) refuse("variables", "expected an object of names and values");
    for (const auto& [name, value] : object.items()) {
      if (!value.is_string() && !value.is_number_integer())
        refuse("variables." + brief(name), "expected a string or a whole number, got " + brief(value));
      variables_.emplace(name, value.is_string() ? value.get<std::string>() : value.dump());
      known.insert(name);
    }
  }
  for (const auto& [name, value] : given_) {
    if (known.count(name)) continue;
    refuse("variables", "there is no variable " + in_quotes(name) + " to set; the file has " +
                            (known.empty() ? std::string("none")
                                           : choice(std::vector<std::string>(known.begin(), known.end()))));
  }
}

std::string ScenarioFields::replaced(const std::string& text, const std::string& place) const {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      result += text[i];
      continue;
    }
    size_t end = text.find('}', i);
    std::string name = end == std::string::npos ? "" : text.substr(i + 1, end - i - 1);
    auto found = variables_.find(name);
    if (found == variables_.end()) {
      std::vector<std::string> known;
      for (const auto& [known_name, value] : variables_) known.push_back(known_name);
      refuse(place, in_quotes(text) + " names no variable behind '{'; there " +
                        (known.empty() ? std::string("are none here") : "are " + choice(known)));
    }
    result += found->second;
    i = end;
  }
  return result;
}

std::string ScenarioFields::text(const json& object, const std::string& place,
                                 const std::string& field) const {
  auto found = object.find(field);
  if (found == object.end()) refuse(place, "\"" + field + "\" is missing");
  if (!found->is_string()) refuse(at(place, field), "expected a string, got " + brief(*found));
  std::string value = replaced(found->get<std::string>(), at(place, field));
  if (value.empty()) refuse(at(place, field), "the text is empty");
  return value;
}

std::string ScenarioFields::text_or(const json& object, const std::string& place, const std::string& field,
                                    const std::string& otherwise) const {
  return object.contains(field) ? text(object, place, field) : otherwise;
}

bool ScenarioFields::truth(const json& object, const std::string& place, const std::string& field) const {
  if (!object[field].is_boolean())
    refuse(at(place, field), "expected true or false, got " + brief(object[field]));
  return object[field].get<bool>();
}

void ScenarioFields::only_true(const json& object, const std::string& place, const std::string& field) const {
  if (!truth(object, place, field)) refuse(at(place, field), "expected true; leave the action out otherwise");
}

uint64_t ScenarioFields::size(const json& object, const std::string& place, const std::string& field) const {
  const json& value = object.at(field);
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (!value.is_string()) refuse(at(place, field), "expected a size such as \"530MiB\", got " + brief(value));
  std::string given = text(object, place, field);
  try {
    return parse_bytes(given, "the size");
  } catch (const Error& error) {
    refuse(at(place, field), said_of(given, error));
  }
}

std::vector<std::string> ScenarioFields::texts(const json& object, const std::string& place,
                                               const std::string& field) const {
  auto found = object.find(field);
  if (found == object.end()) refuse(place, "\"" + field + "\" is missing");
  std::vector<std::string> result;
  if (!found->is_array()) return {text(object, place, field)};
  for (size_t i = 0; i < found->size(); ++i) {
    std::string item = at(place, field) + "[" + std::to_string(i) + "]";
    if (!(*found)[i].is_string()) refuse(item, "expected a string, got " + brief((*found)[i]));
    result.push_back(replaced((*found)[i].get<std::string>(), item));
  }
  if (result.empty()) refuse(at(place, field), "the list is empty");
  return result;
}

std::string ScenarioFields::one_of(const std::string& value, const std::string& place,
                                   const std::vector<std::string>& names) const {
  if (std::find(names.begin(), names.end(), value) != names.end()) return value;
  refuse(place, in_quotes(value) + " is none of " + joined(names));
}

int64_t ScenarioFields::whole(const json& value, const std::string& place, int64_t least) const {
  std::string text = value.is_string() ? replaced(value.get<std::string>(), place) : value.dump();
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least)
    refuse(place, "expected a whole number from " + std::to_string(least) + " on, got " + brief(value));
  return number;
}

void ScenarioFields::set(const std::string& name, const std::string& value) { variables_[name] = value; }

}  // namespace torchmem
