#include "request/run_request.h"

#include "request/fields.h"
#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr std::pair<Mode, const char*> mode_words[] = {
    {Mode::train, "train"}, {Mode::inference, "inference"}, {Mode::grad_forward, "grad-forward"}};
constexpr std::pair<Recording, const char*> recording_words[] = {
    {Recording::owners, "owners"}, {Recording::events, "events"}, {Recording::off, "off"}};

template <class T, size_t count>
std::string word_of(T value, const std::pair<T, const char*> (&words)[count]) {
  for (const auto& [one, word] : words) {
    if (one == value) return word;
  }
  return "";
}

template <class T, size_t count>
void read_word(const json& from, const char* key, T& value, const std::pair<T, const char*> (&words)[count]) {
  const auto text = from.get<std::string>();
  std::vector<std::string> known;
  for (const auto& [one, word] : words) {
    known.emplace_back(word);
    if (text != word) continue;
    value = one;
    return;
  }
  throw Error(ErrorKind::bad_usage,
              "Unknown " + std::string(key) + " \"" + text + "\": expected one of " + joined(known) + ".");
}

json to(const Mode& mode) { return word_of(mode, mode_words); }
json to(const Recording& recording) { return word_of(recording, recording_words); }
json to(const Arguments& arguments) {
  return {{"positional", arguments.positional}, {"named", arguments.named}};
}
json to(const std::vector<Arguments>& in_turn) {
  json array = json::array();
  for (const Arguments& arguments : in_turn) array.push_back(to(arguments));
  return array;
}
json to(const Sizes& sizes) { return {{sizes.dimension, sizes.sizes}}; }
template <class T>
json to(const T& value) {
  return value;
}
template <class T>
json to(const std::optional<T>& value) {
  return value ? to(*value) : json();
}

void from(const json& object, const char* key, Mode& mode) { read_word(object, key, mode, mode_words); }
void from(const json& object, const char* key, Recording& recording) {
  read_word(object, key, recording, recording_words);
}
void from(const json& object, const char*, Arguments& arguments) {
  if (object.contains("positional")) object.at("positional").get_to(arguments.positional);
  if (object.contains("named")) object.at("named").get_to(arguments.named);
}
void from(const json& array, const char* key, std::vector<Arguments>& in_turn) {
  in_turn.clear();
  for (const json& object : array) from(object, key, in_turn.emplace_back());
}
void from(const json& object, const char* key, Sizes& sizes) {
  if (!object.is_object() || object.size() != 1)
    throw Error(ErrorKind::bad_usage, "The engine's request has \"" + std::string(key) + "\": " +
                                          object.dump() + ", which is not one dimension with its sizes.");
  sizes = {object.items().begin().key(), object.front().get<std::vector<uint64_t>>()};
}
template <class T>
void from(const json& value, const char*, T& target) {
  value.get_to(target);
}
template <class T>
void from(const json& value, const char* key, std::optional<T>& target) {
  from(value, key, target.emplace());
}

bool is_in(const RequestField& field, const RunRequest& request) {
  bool is_scenario = request.command == "scenario";
  bool is_run = request.command == "profile" || request.command == "check";
  switch (field.scope) {
    case Scope::any:
      return true;
    case Scope::models:
      return !is_scenario;
    case Scope::runs:
      return is_run;
    case Scope::settings:
      return is_run || is_scenario;
  }
  return false;
}

json value_of(const RequestField& field, const RunRequest& request) {
  return std::visit([&](auto member) { return to(request.*member); }, field.member);
}

json fields_of(const RunRequest& request, bool told_only) {
  static const RunRequest unset;
  json object = json::object();
  for (const RequestField& field : request_fields()) {
    if (!is_in(field, request) || (told_only && !field.is_told)) continue;
    json value = value_of(field, request);
    bool is_always = field.written == Written::always ||
                     (field.written == Written::always_but_in_scenarios && request.command != "scenario");
    if (is_always || value != value_of(field, unset)) object[field.key] = std::move(value);
  }
  return object;
}

// Of texts: a word of an enumeration is checked as it is read.
void check_choice_of(const RequestField& field, const std::string& value) { check_choice(field, value); }
void check_choice_of(const RequestField& field, const std::optional<std::string>& value) {
  if (value) check_choice(field, *value);
}
template <class T>
void check_choice_of(const RequestField&, const T&) {}

// That the values go together; each by itself is of its type.
void check(const RunRequest& request) {
  for (const auto& [key, value] :
       {std::pair{"command", request.command}, {"model", request.model}, {"stream", request.stream}}) {
    if (value.empty())
      throw Error(ErrorKind::bad_usage, std::string("The engine's request has no \"") + key + "\".");
  }
  if (request.inference_mode && request.mode != Mode::inference)
    throw Error(ErrorKind::bad_usage, "\"inference_mode\" goes with the mode inference only.");
  if (request.steps < 1 || request.accumulate < 1) {
    throw Error(ErrorKind::bad_usage,
                "The number of steps and of accumulated micro-batches must be at least 1.");
  }
}

}  // namespace

json request_json(const RunRequest& request) {
  json object = fields_of(request, false);
  object["device"] = {{"kind", request.device_kind}, {"index", request.device_index}};
  return object;
}

RunRequest read_request(const json& object) {
  if (!object.is_object()) throw Error(ErrorKind::bad_usage, "The engine's request is not a JSON object.");
  RunRequest request;
  request.command.clear();
  const json device = object.value("device", json::object());
  auto read = [](const json& from_object, const char* key, auto& target) {
    auto found = from_object.find(key);
    if (found == from_object.end() || found->is_null()) return;
    try {
      from(*found, key, target);
    } catch (const json::exception&) {
      throw Error(ErrorKind::bad_usage, std::string("The engine's request has \"") + key +
                                            "\": " + found->dump() +
                                            ", which is not of the type that this field has.");
    }
  };
  for (const RequestField& field : request_fields())
    std::visit([&](auto member) { read(object, field.key, request.*member); }, field.member);
  read(device, "kind", request.device_kind);
  read(device, "index", request.device_index);
  for (const RequestField& field : request_fields())
    std::visit([&](auto member) { check_choice_of(field, request.*member); }, field.member);
  check(request);
  return request;
}

json arguments_of(const RunRequest& request) { return fields_of(request, true); }

}  // namespace torchmem
