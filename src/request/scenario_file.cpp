#include "request/scenario_file.h"

#include "request/alloc_conf.h"
#include "request/json_file.h"
#include "request/scenario_actions.h"
#include "request/scenario_fields.h"
#include "request/scenario_loops.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr int deepest_loops = 16;

class Reader {
 public:
  Reader(const std::string& path, const std::map<std::string, std::string>& given)
      : in_{.path = path, .fields = ScenarioFields(path, given), .marks = {}, .loops = {}, .lists = {}} {}

  ScenarioFile read() {
    json document = read_json_file(in_.path, "scenario");
    if (!document.is_object()) in_.fields.refuse("", "expected an object with \"actions\"");
    in_.fields.check_fields(document, "", {"about", "variables", "limit", "alloc_conf", "actions"});
    in_.fields.read_variables(document);
    if (document.contains("about")) in_.file.scenario.about = in_.fields.text(document, "", "about");
    if (document.contains("limit")) in_.file.limit_bytes = in_.fields.size(document, "", "limit");
    if (document.contains("alloc_conf")) {
      in_.file.alloc_conf = in_.fields.text(document, "", "alloc_conf");
      check_alloc_conf(*in_.file.alloc_conf, in_.fields.where("alloc_conf"));
    }
    actions(document, "", "actions", 0);
    return std::move(in_.file);
  }

 private:
  void actions(const json& object, const std::string& place, const std::string& field, int depth) {
    auto found = object.find(field);
    if (found == object.end()) in_.fields.refuse(place, "\"" + field + "\" is missing");
    if (!found->is_array())
      in_.fields.refuse(at(place, field), "expected a list of actions, got " + brief(*found));
    // An empty list could be repeated without end and never come to the most actions that a file may have.
    if (found->empty()) in_.fields.refuse(at(place, field), "there is no action");
    in_.lists.push_back(next_list_++);
    for (size_t i = 0; i < found->size(); ++i) {
      action((*found)[i], at(place, field) + "[" + std::to_string(i) + "]", depth);
    }
    in_.lists.pop_back();
  }

  void action(const json& object, const std::string& place, int depth) {
    if (!object.is_object())
      in_.fields.refuse(place, "expected an action as an object, got " + brief(object));
    if (object.contains("repeat")) return repeat(object, place, depth);
    read_action(in_, object, place);
  }

  void repeat(const json& object, const std::string& place, int depth) {
    in_.fields.check_fields(object, place, {"repeat", "as", "pad", "bucket", "do"});
    if (depth >= deepest_loops) in_.fields.refuse(place, "loops are nested too deep");
    std::string name = in_.fields.text_or(object, place, "as", "");
    if (name.empty() && !object["repeat"].is_number_integer() && !object["repeat"].is_string())
      in_.fields.refuse(place, "\"as\" is missing: the name that its values have in \"do\"");
    auto outer = in_.fields.variables();
    std::string shown = name.empty() ? "turn" : name;
    for (const std::string& value : loop_values(in_.fields, object, place)) {
      if (!name.empty()) in_.fields.set(name, value);
      in_.loops.emplace_back(shown, value);
      actions(object, place, "do", depth + 1);
      in_.loops.pop_back();
    }
    in_.fields.restore(std::move(outer));
  }

  ScenarioReading in_;
  size_t next_list_ = 0;
};

}  // namespace

ScenarioFile read_scenario_file(const std::string& path,
                                const std::map<std::string, std::string>& variables) {
  return Reader(path, variables).read();
}

}  // namespace torchmem
