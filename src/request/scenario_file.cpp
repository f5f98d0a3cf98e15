#include "request/scenario_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "report/style.h"
#include "request/alloc_conf.h"
#include "request/json_file.h"
#include "request/model_file.h"
#include "request/optimizers.h"
#include "request/spec.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr size_t most_steps = 100'000;
constexpr int deepest_loops = 16;

using Names = std::set<std::string>;

// What the loops and "variables" give to "{NAME}" in texts.
using Variables = std::map<std::string, std::string>;

enum class Thing { model, optimizer, value, list };

constexpr const char* word(Thing thing) {
  switch (thing) {
    case Thing::model:
      return "model";
    case Thing::optimizer:
      return "optimizer";
    case Thing::value:
      return "value";
    case Thing::list:
      return "list";
  }
  return "thing";
}

std::string a_thing(Thing thing) {
  return (thing == Thing::optimizer ? "an " : "a ") + std::string(word(thing));
}

std::string in_quotes(const std::string& text) { return "'" + brief(text) + "'"; }

// The names to choose from, in a message: not all of thousands.
std::string choice(const std::vector<std::string>& names) {
  constexpr size_t most = 20;
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + brief(names[i]);
  if (names.size() > most) text += " and " + format_count(names.size() - most) + " more";
  return text;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// What another part says of `given`, with no more of it than is shown elsewhere.
std::string said_of(const std::string& given, const Error& error) {
  std::string message = error.what();
  if (size_t start = message.find(given); start != std::string::npos)
    message.replace(start, given.size(), brief(given));
  return message;
}

class Reader {
 public:
  Reader(const std::string& path, const std::map<std::string, std::string>& given)
      : path_(path), variables_(given), given_(given) {}

  ScenarioFile read() {
    json document = read_json_file(path_, "scenario");
    if (!document.is_object()) refuse("", "expected an object with \"actions\"");
    check_fields(document, "", {"about", "variables", "limit", "alloc_conf", "actions"});
    read_variables(document);
    if (document.contains("about")) file_.scenario.about = text(document, "", "about");
    if (document.contains("limit")) file_.limit_bytes = size(document, "", "limit");
    if (document.contains("alloc_conf")) {
      file_.alloc_conf = text(document, "", "alloc_conf");
      check_alloc_conf(*file_.alloc_conf, where("alloc_conf"));
    }
    actions(document, "", "actions", 0);
    return std::move(file_);
  }

 private:
  using Read = void (Reader::*)(const json&, const std::string&);

  struct Kind {
    const char* name;  // the field that makes it this action
    Names fields;      // the others that it may have
    Read read;
  };

  static const std::vector<Kind>& kinds() {
    static const std::vector<Kind> table = {
        {"load", {"as", "method", "train", "dtype", "channels_last", "checkpoint", "inplace"}, &Reader::load},
        {"input", {"as"}, &Reader::input},
        {"forward", {"inputs", "as"}, &Reader::forward},
        {"loss", {"kind", "on", "as"}, &Reader::loss},
        {"backward", {}, &Reader::backward},
        {"detach", {"as"}, &Reader::detach},
        {"optimizer", {"of", "as"}, &Reader::optimizer},
        {"step", {}, &Reader::step},
        {"zero_grad", {"set_to_none"}, &Reader::zero_grad},
        {"keep", {"in"}, &Reader::keep},
        {"release", {}, &Reader::release},
        {"alloc", {"as"}, &Reader::alloc},
        {"empty_cache", {}, &Reader::empty_cache},
        {"autocast", {}, &Reader::autocast},
        {"no_grad", {}, &Reader::no_grad},
        {"limit", {}, &Reader::limit},
        {"mark", {}, &Reader::mark},
        {"expect", {}, &Reader::expect},
        {"expect_oom", {}, &Reader::expect_oom},
    };
    return table;
  }

  std::string where(const std::string& place) const {
    return "scenario " + printable(path_) + (place.empty() ? "" : ", at " + place);
  }

  [[noreturn]] void refuse(const std::string& place, const std::string& why) const {
    throw Error(ErrorKind::bad_input, where(place) + ": " + why);
  }

  static std::string at(const std::string& place, const std::string& field) {
    return place.empty() ? field : place + "." + field;
  }

  void check_fields(const json& object, const std::string& place, const Names& known) const {
    for (const auto& [name, value] : object.items()) {
      if (known.count(name)) continue;
      refuse(at(place, brief(name)), "there is no such field here; expected " +
                                         joined(std::vector<std::string>(known.begin(), known.end())));
    }
  }

  void read_variables(const json& document) {
    Names known;
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

  // "{NAME}" by the variable's value.
  std::string replaced(const std::string& text, const std::string& place) const {
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

  std::string text(const json& object, const std::string& place, const std::string& field) const {
    auto found = object.find(field);
    if (found == object.end()) refuse(place, "\"" + field + "\" is missing");
    if (!found->is_string()) refuse(at(place, field), "expected a string, got " + brief(*found));
    std::string value = replaced(found->get<std::string>(), at(place, field));
    if (value.empty()) refuse(at(place, field), "the text is empty");
    return value;
  }

  std::string text_or(const json& object, const std::string& place, const std::string& field,
                      const std::string& otherwise) const {
    return object.contains(field) ? text(object, place, field) : otherwise;
  }

  bool truth(const json& object, const std::string& place, const std::string& field) const {
    if (!object[field].is_boolean())
      refuse(at(place, field), "expected true or false, got " + brief(object[field]));
    return object[field].get<bool>();
  }

  void only_true(const json& object, const std::string& place, const std::string& field) const {
    if (!truth(object, place, field))
      refuse(at(place, field), "expected true; leave the action out otherwise");
  }

  // A SIZE as text, or a whole number of bytes.
  uint64_t size(const json& object, const std::string& place, const std::string& field) const {
    const json& value = object.at(field);
    if (value.is_number_unsigned()) return value.get<uint64_t>();
    if (!value.is_string())
      refuse(at(place, field), "expected a size such as \"530MiB\", got " + brief(value));
    std::string given = text(object, place, field);
    try {
      return parse_bytes(given, "the size");
    } catch (const Error& error) {
      refuse(at(place, field), said_of(given, error));
    }
  }

  // One text, or an array of them.
  std::vector<std::string> texts(const json& object, const std::string& place,
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

  std::string one_of(const std::string& value, const std::string& place,
                     const std::vector<std::string>& names) const {
    if (std::find(names.begin(), names.end(), value) != names.end()) return value;
    refuse(place, in_quotes(value) + " is none of " + joined(names));
  }

  // A name that something must have by now.
  std::string used(const std::string& name, const std::string& place,
                   std::initializer_list<Thing> wanted) const {
    auto found = things_.find(name);
    if (found != things_.end() && std::find(wanted.begin(), wanted.end(), found->second) != wanted.end())
      return name;
    std::vector<std::string> known;
    for (const auto& [known_name, thing] : things_) {
      if (std::find(wanted.begin(), wanted.end(), thing) != wanted.end()) known.push_back(known_name);
    }
    if (found != things_.end())
      refuse(place, in_quotes(name) + " is " + a_thing(found->second) + ", but " + a_thing(*wanted.begin()) +
                        " is expected");
    refuse(place, std::string("there is no ") + word(*wanted.begin()) + " " + in_quotes(name) +
                      " at this point" + (known.empty() ? "" : "; there are " + choice(known)));
  }

  std::string made(const json& action, const std::string& place, Thing thing,
                   const std::string& otherwise = "") {
    std::string name =
        otherwise.empty() ? text(action, place, "as") : text_or(action, place, "as", otherwise);
    auto found = things_.find(name);
    if (found != things_.end() && found->second != thing)
      refuse(at(place, "as"), in_quotes(name) + " is " + a_thing(found->second) + " already");
    things_[name] = thing;
    return name;
  }

  void actions(const json& object, const std::string& place, const std::string& field, int depth) {
    auto found = object.find(field);
    if (found == object.end()) refuse(place, "\"" + field + "\" is missing");
    if (!found->is_array()) refuse(at(place, field), "expected a list of actions, got " + brief(*found));
    // An empty list could be repeated without end and never come to the most actions that a file may have.
    if (found->empty()) refuse(at(place, field), "there is no action");
    lists_.push_back(next_list_++);
    for (size_t i = 0; i < found->size(); ++i) {
      action((*found)[i], at(place, field) + "[" + std::to_string(i) + "]", depth);
    }
    lists_.pop_back();
  }

  void action(const json& object, const std::string& place, int depth) {
    if (!object.is_object()) refuse(place, "expected an action as an object, got " + brief(object));
    if (object.contains("repeat")) return repeat(object, place, depth);
    const Kind* kind = nullptr;
    for (const Kind& candidate : kinds()) {
      if (!object.contains(candidate.name)) continue;
      // "limit" and others are never fields of another action.
      if (kind) refuse(place, std::string("it is two actions, ") + kind->name + " and " + candidate.name);
      kind = &candidate;
    }
    if (!kind) {
      std::vector<std::string> names;
      for (const Kind& candidate : kinds()) names.emplace_back(candidate.name);
      refuse(place, "no action is named. Actions: " + joined(names) + ", repeat");
    }
    Names known = kind->fields;
    known.insert(kind->name);
    check_fields(object, place, known);
    (this->*kind->read)(object, place);
  }

  ScenarioStep& add(const std::string& place, std::string label, json action = nullptr) {
    if (file_.scenario.steps.size() >= most_steps)
      refuse(place, "the loops come to more than " + format_count(most_steps) + " actions");
    ScenarioStep step;
    step.place = place;
    for (const auto& [name, value] : loops_) step.loop += (step.loop.empty() ? "" : " ") + name + "=" + value;
    step.label = std::move(label);
    step.action = std::move(action);
    step.lists = lists_;
    file_.scenario.steps.push_back(std::move(step));
    return file_.scenario.steps.back();
  }

  // ---- loops

  int64_t whole(const json& value, const std::string& place, int64_t least) const {
    std::string text = value.is_string() ? replaced(value.get<std::string>(), place) : value.dump();
    int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least)
      refuse(place, "expected a whole number from " + std::to_string(least) + " on, got " + brief(value));
    return number;
  }

  [[noreturn]] void refuse_turns(const std::string& place, uint64_t turns) const {
    refuse(place, "it has " + format_count(turns) + " turns, but a scenario may come to " +
                      format_count(most_steps) + " actions at most");
  }

  std::vector<int64_t> range(const json& object, const std::string& place) const {
    check_fields(object, place, {"from", "to", "step"});
    for (const char* name : {"from", "to"}) {
      if (!object.contains(name)) refuse(place, std::string("\"") + name + "\" is missing");
    }
    int64_t from = whole(object["from"], at(place, "from"), 0);
    int64_t to = whole(object["to"], at(place, "to"), 0);
    int64_t step = object.contains("step") ? whole(object["step"], at(place, "step"), 1) : 1;
    int64_t turns = (to >= from ? to - from : from - to) / step;  // after the first
    if (turns >= static_cast<int64_t>(most_steps)) refuse_turns(place, static_cast<uint64_t>(turns) + 1);
    std::vector<int64_t> values;
    for (int64_t turn = 0; turn <= turns; ++turn) values.push_back(from + (to >= from ? step : -step) * turn);
    return values;
  }

  // The values of a loop as texts; lengths are rounded up as "pad" or "bucket" say.
  std::vector<std::string> values_of(const json& object, const std::string& place) const {
    const json& repeat = object["repeat"];
    std::string here = at(place, "repeat");
    std::vector<std::string> values;
    std::vector<int64_t> numbers;
    if (repeat.is_array()) {
      bool all_numbers = true;
      for (size_t i = 0; i < repeat.size(); ++i) {
        const json& item = repeat[i];
        if (!item.is_string() && !item.is_number_integer())
          refuse(here + "[" + std::to_string(i) + "]",
                 "expected a string or a whole number, got " + brief(item));
        all_numbers = all_numbers && item.is_number_integer();
        values.push_back(item.is_string() ? replaced(item.get<std::string>(), here) : item.dump());
        if (item.is_number_integer()) numbers.push_back(item.get<int64_t>());
      }
      if (!all_numbers) numbers.clear();
    } else if (repeat.is_object()) {
      numbers = range(repeat, here);
      for (int64_t number : numbers) values.push_back(std::to_string(number));
    } else {
      int64_t count = whole(repeat, here, 1);
      if (count > static_cast<int64_t>(most_steps)) refuse_turns(here, static_cast<uint64_t>(count));
      for (int64_t i = 0; i < count; ++i) {
        numbers.push_back(i);
        values.push_back(std::to_string(i));
      }
    }
    if (values.empty()) refuse(here, "there is nothing to repeat with");
    bool pads = object.contains("pad");
    bool buckets = object.contains("bucket");
    if (!pads && !buckets) return values;
    if (pads && buckets) refuse(place, "\"pad\" and \"bucket\" are two ways of the same; give one");
    if (numbers.empty()) refuse(at(place, pads ? "pad" : "bucket"), "the values must be whole numbers");
    int64_t largest = *std::max_element(numbers.begin(), numbers.end());
    int64_t bound = pads ? (object["pad"] == "max" ? largest : whole(object["pad"], at(place, "pad"), 1))
                         : whole(object["bucket"], at(place, "bucket"), 1);
    if (pads && bound < largest)
      refuse(at(place, "pad"),
             "the longest is " + std::to_string(largest) + ", which is more than " + std::to_string(bound));
    if (largest > INT64_MAX - bound) refuse(here, "the values are too large");
    values.clear();
    for (int64_t number : numbers)
      values.push_back(std::to_string(pads ? bound : (number + bound - 1) / bound * bound));
    return values;
  }

  void repeat(const json& object, const std::string& place, int depth) {
    check_fields(object, place, {"repeat", "as", "pad", "bucket", "do"});
    if (depth >= deepest_loops) refuse(place, "loops are nested too deep");
    std::string name = text_or(object, place, "as", "");
    if (name.empty() && !object["repeat"].is_number_integer() && !object["repeat"].is_string())
      refuse(place, "\"as\" is missing: the name that its values have in \"do\"");
    auto outer = variables_;
    std::string shown = name.empty() ? "turn" : name;
    for (const std::string& value : values_of(object, place)) {
      if (!name.empty()) variables_[name] = value;
      loops_.emplace_back(shown, value);
      actions(object, place, "do", depth + 1);
      loops_.pop_back();
    }
    variables_ = std::move(outer);
  }

  // ---- actions

  void load(const json& object, const std::string& place) {
    std::string given = text(object, place, "load");
    fs::path model = given;
    if (model.is_relative()) model = fs::path(path_).parent_path() / model;
    try {
      check_model_file(model);
    } catch (const Error& error) {
      throw Error(error.kind(), where(at(place, "load")) + ": " + said_of(model.string(), error));
    }
    file_.models.push_back(model.string());
    std::string name = made(object, place, Thing::model);
    json action = {{"do", "load"}, {"as", name}, {"model", model.string()}};
    if (object.contains("method")) action["method"] = text(object, place, "method");
    if (object.contains("dtype"))
      action["dtype"] = one_of(text(object, place, "dtype"), at(place, "dtype"), {"f32", "f16", "bf16"});
    if (object.contains("checkpoint")) action["checkpoint"] = texts(object, place, "checkpoint");
    for (const char* field : {"train", "channels_last", "inplace"}) {
      if (object.contains(field)) action[field] = truth(object, place, field);
    }
    add(place, "load " + name + " " + given, std::move(action));
  }

  json input_value(const std::string& spec, const std::string& place) const {
    Spec parsed;
    try {
      parsed = parse_spec(spec);
    } catch (const Error& error) {
      refuse(place, said_of(spec, error));
    }
    if (!parsed.name.empty()) refuse(place, in_quotes(spec) + " has a name; \"as\" names it");
    return parsed.value;
  }

  void input(const json& object, const std::string& place) {
    std::string spec = text(object, place, "input");
    std::string name = made(object, place, Thing::value);
    add(place, "input " + name + " " + spec,
        {{"do", "input"}, {"as", name}, {"value", input_value(spec, at(place, "input"))}});
  }

  void forward(const json& object, const std::string& place) {
    std::string model = used(text(object, place, "forward"), at(place, "forward"), {Thing::model});
    json inputs = json::array();
    std::string shown;
    for (const std::string& given : texts(object, place, "inputs")) {
      bool is_spec = given.find(':') != std::string::npos || given.starts_with('@');
      inputs.push_back(is_spec ? input_value(given, at(place, "inputs"))
                               : json{{"name", used(given, at(place, "inputs"), {Thing::value})}});
      shown += (shown.empty() ? "" : ", ") + given;
    }
    std::string name = made(object, place, Thing::value);
    add(place, name + " = " + model + "(" + shown + ")",
        {{"do", "forward"}, {"as", name}, {"model", model}, {"inputs", std::move(inputs)}});
  }

  void loss(const json& object, const std::string& place) {
    std::string of = used(text(object, place, "loss"), at(place, "loss"), {Thing::value});
    std::string kind = one_of(text_or(object, place, "kind", "sum"), at(place, "kind"), loss_names());
    std::string name = made(object, place, Thing::value);
    json action = {{"do", "loss"}, {"as", name}, {"of", of}, {"kind", kind}};
    if (object.contains("on")) action["on"] = text(object, place, "on");
    add(place, name + " = " + kind + " of " + of, std::move(action));
  }

  void backward(const json& object, const std::string& place) {
    std::string of = used(text(object, place, "backward"), at(place, "backward"), {Thing::value});
    add(place, "backward " + of, {{"do", "backward"}, {"of", of}});
  }

  void detach(const json& object, const std::string& place) {
    std::string of = used(text(object, place, "detach"), at(place, "detach"), {Thing::value});
    std::string name = made(object, place, Thing::value);
    add(place, name + " = " + of + ".detach()", {{"do", "detach"}, {"of", of}, {"as", name}});
  }

  void optimizer(const json& object, const std::string& place) {
    std::string given = text(object, place, "optimizer");
    json action = {{"do", "optimizer"}};
    try {
      auto [name, form] = parse_optimizer(given, "the optimizer");
      action["optimizer"] = name;
      action["form"] = form;
    } catch (const Error& error) {
      refuse(at(place, "optimizer"), said_of(given, error));
    }
    std::vector<std::string> models;
    for (const std::string& name : texts(object, place, "of")) {
      if (std::find(models.begin(), models.end(), name) != models.end())
        refuse(at(place, "of"), in_quotes(name) + " is given twice");
      models.push_back(used(name, at(place, "of"), {Thing::model}));
    }
    action["models"] = models;
    std::string name = made(object, place, Thing::optimizer);
    action["as"] = name;
    add(place, name + " = " + given + " of " + joined(models), std::move(action));
  }

  void step(const json& object, const std::string& place) {
    std::string name = used(text(object, place, "step"), at(place, "step"), {Thing::optimizer});
    add(place, "step " + name, {{"do", "step"}, {"optimizer", name}});
  }

  void zero_grad(const json& object, const std::string& place) {
    std::string name = used(text(object, place, "zero_grad"), at(place, "zero_grad"), {Thing::optimizer});
    bool keeps = object.contains("set_to_none") && !truth(object, place, "set_to_none");
    add(place, "zero_grad " + name + (keeps ? ", set_to_none=False" : ""),
        {{"do", "zero_grad"}, {"optimizer", name}, {"keep", keeps}});
  }

  void keep(const json& object, const std::string& place) {
    std::string of = used(text(object, place, "keep"), at(place, "keep"), {Thing::value});
    std::string list = text(object, place, "in");
    auto found = things_.find(list);
    if (found != things_.end() && found->second != Thing::list)
      refuse(at(place, "in"), in_quotes(list) + " is " + a_thing(found->second) + ", but a list is expected");
    things_[list] = Thing::list;
    add(place, "keep " + of + " in " + list, {{"do", "keep"}, {"of", of}, {"in", list}});
  }

  void release(const json& object, const std::string& place) {
    std::vector<std::string> names = texts(object, place, "release");
    for (const std::string& name : names) {
      used(name, at(place, "release"), {Thing::value, Thing::list, Thing::model, Thing::optimizer});
      things_.erase(name);
    }
    add(place, "release " + joined(names), {{"do", "release"}, {"names", names}});
  }

  void alloc(const json& object, const std::string& place) {
    uint64_t bytes = size(object, place, "alloc");
    if (bytes > static_cast<uint64_t>(INT64_MAX)) refuse(at(place, "alloc"), "the size is too large");
    std::string name = made(object, place, Thing::value);
    add(place, "alloc " + name + " " + format_bytes(bytes),
        {{"do", "alloc"}, {"as", name}, {"bytes", bytes}});
  }

  void empty_cache(const json& object, const std::string& place) {
    only_true(object, place, "empty_cache");
    add(place, "empty_cache", {{"do", "empty_cache"}});
  }

  void autocast(const json& object, const std::string& place) {
    const json& value = object["autocast"];
    if (value == false) {
      add(place, "autocast off", {{"do", "autocast"}, {"dtype", nullptr}});
      return;
    }
    if (!value.is_string())
      refuse(at(place, "autocast"), "expected \"bf16\", \"f16\" or false, got " + brief(value));
    std::string dtype = one_of(text(object, place, "autocast"), at(place, "autocast"), {"bf16", "f16"});
    add(place, "autocast " + dtype, {{"do", "autocast"}, {"dtype", dtype}});
  }

  void no_grad(const json& object, const std::string& place) {
    bool on = truth(object, place, "no_grad");
    add(place, on ? "no_grad on" : "no_grad off", {{"do", "grad"}, {"on", !on}});
  }

  void limit(const json& object, const std::string& place) {
    if (object["limit"] == false) {
      add(place, "limit off", {{"do", "limit"}, {"bytes", nullptr}});
      return;
    }
    uint64_t bytes = size(object, place, "limit");
    add(place, "limit " + format_bytes(bytes), {{"do", "limit"}, {"bytes", bytes}});
  }

  void mark(const json& object, const std::string& place) {
    std::string name = text(object, place, "mark");
    add(place, "mark " + name).mark = name;
    marks_.insert(name);
  }

  void expect(const json& object, const std::string& place) {
    const json& wanted = object["expect"];
    std::string here = at(place, "expect");
    if (!wanted.is_object() || wanted.empty())
      refuse(here, "expected an object such as {\"reserved_bytes\": \">= 3GiB\"}, got " + brief(wanted));
    std::vector<std::string> known = scenario_numbers();
    std::vector<Expectation> expectations;
    std::string shown;
    for (const auto& [name, value] : wanted.items()) {
      if (std::find(known.begin(), known.end(), name) == known.end())
        refuse(at(here, brief(name)), "there is no such number; expected " + joined(known));
      std::string condition = value.is_number_unsigned() ? "== " + value.dump() : text(wanted, here, name);
      try {
        expectations.push_back(parse_expectation(name, condition));
      } catch (const Error& error) {
        refuse(at(here, name), said_of(condition, error));
      }
      const std::string& mark = expectations.back().mark;
      if (!mark.empty() && !marks_.count(mark))
        refuse(at(here, name), "there is no mark " + in_quotes(mark) + " before it");
      shown += (shown.empty() ? "" : ", ") + name + " " + condition;
    }
    add(place, "expect " + shown).expectations = std::move(expectations);
  }

  void expect_oom(const json& object, const std::string& place) {
    only_true(object, place, "expect_oom");
    add(place, "expect out of memory").expects_out_of_memory = true;
  }

  const std::string& path_;
  Variables variables_;
  const std::map<std::string, std::string>& given_;
  ScenarioFile file_;
  std::map<std::string, Thing> things_;
  Names marks_;
  std::vector<std::pair<std::string, std::string>> loops_;
  std::vector<size_t> lists_;
  size_t next_list_ = 0;
};

}  // namespace

ScenarioFile read_scenario_file(const std::string& path,
                                const std::map<std::string, std::string>& variables) {
  return Reader(path, variables).read();
}

}  // namespace torchmem
