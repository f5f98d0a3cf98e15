#include "request/scenario_names.h"

#include <algorithm>

namespace torchmem {

using nlohmann::json;

namespace {

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

}  // namespace

std::string ScenarioNames::used(const std::string& name, const std::string& place,
                                std::initializer_list<Thing> wanted) const {
  auto found = things_.find(name);
  if (found != things_.end() && std::find(wanted.begin(), wanted.end(), found->second) != wanted.end())
    return name;
  std::vector<std::string> known;
  for (const auto& [known_name, thing] : things_) {
    if (std::find(wanted.begin(), wanted.end(), thing) != wanted.end()) known.push_back(known_name);
  }
  if (found != things_.end())
    fields_.refuse(place, in_quotes(name) + " is " + a_thing(found->second) + ", but " +
                              a_thing(*wanted.begin()) + " is expected");
  fields_.refuse(place, std::string("there is no ") + word(*wanted.begin()) + " " + in_quotes(name) +
                            " at this point" + (known.empty() ? "" : "; there are " + choice(known)));
}

std::string ScenarioNames::made(const json& action, const std::string& place, Thing thing) {
  std::string name = fields_.text(action, place, "as");
  auto found = things_.find(name);
  if (found != things_.end() && found->second != thing)
    fields_.refuse(at(place, "as"), in_quotes(name) + " is " + a_thing(found->second) + " already");
  things_[name] = thing;
  return name;
}

std::string ScenarioNames::list(const std::string& name, const std::string& place) {
  auto found = things_.find(name);
  if (found != things_.end() && found->second != Thing::list)
    fields_.refuse(place, in_quotes(name) + " is " + a_thing(found->second) + ", but a list is expected");
  things_[name] = Thing::list;
  return name;
}

void ScenarioNames::release(const std::string& name) { things_.erase(name); }

}  // namespace torchmem
