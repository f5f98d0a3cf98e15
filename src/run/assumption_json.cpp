#include "run/assumption_json.h"

#include <algorithm>
#include <utility>

namespace torchmem {

using nlohmann::json;

namespace {

constexpr std::pair<const char*, std::string AssumptionRecord::*> texts[] = {
    {"name", &AssumptionRecord::name},       {"op", &AssumptionRecord::op},
    {"module", &AssumptionRecord::module},   {"line", &AssumptionRecord::line},
    {"problem", &AssumptionRecord::problem}, {"taken_for", &AssumptionRecord::taken_for},
    {"what", &AssumptionRecord::what},
};

constexpr std::pair<const char*, bool AssumptionRecord::*> flags[] = {
    {"unknown", &AssumptionRecord::unknown},
    {"without", &AssumptionRecord::without},
};

// The field's value, taken out of the object; `otherwise` where it has none.
template <typename T>
T take(json& object, const char* name, T otherwise) {
  auto found = object.find(name);
  if (found == object.end()) return otherwise;
  T value = found->is_null() ? otherwise : found->template get<T>();
  object.erase(found);
  return value;
}

bool is_alike(const AssumptionRecord& a, const AssumptionRecord& b) {
  const bool decides_alike =
      a.decides == b.decides || a.decides == Decision::none || b.decides == Decision::none;
  return decides_alike && a.kind == b.kind && a.name == b.name && a.op == b.op && a.module == b.module &&
         a.line == b.line && a.problem == b.problem && a.what == b.what && a.unknown == b.unknown &&
         a.without == b.without && a.rest == b.rest;
}

}  // namespace

AssumptionRecord assumption_from_json(json object) {
  AssumptionRecord assumption;
  const auto kind = assumption_from(object.at("kind").get_ref<const std::string&>());
  assumption.kind = kind.value_or(Assumption::other);
  if (kind) object.erase("kind");
  assumption.count = take<uint64_t>(object, "count", 1);
  assumption.bytes = take<uint64_t>(object, "bytes", 0);
  object.erase("address");
  for (const auto& [name, member] : texts) {
    auto found = object.find(name);
    if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
      continue;
    assumption.*member = take<std::string>(object, name, "");
  }
  for (const auto& [name, member] : flags) {
    assumption.*member = object.value(name, json()) == true;
    if (assumption.*member) object.erase(name);
  }
  if (auto found = object.find("decides"); found != object.end() && found->is_string()) {
    assumption.decides = decision_from(found->get_ref<const std::string&>()).value_or(Decision::none);
    if (assumption.decides != Decision::none) object.erase(found);
  }
  assumption.rest = std::move(object);
  return assumption;
}

json assumption_to_json(const AssumptionRecord& assumption) {
  json object = assumption.rest;
  object["count"] = assumption.count;
  object["bytes"] = assumption.bytes;
  for (const auto& [name, member] : texts) {
    if (!(assumption.*member).empty()) object[name] = assumption.*member;
  }
  for (const auto& [name, member] : flags) {
    if (assumption.*member) object[name] = true;
  }
  if (assumption.decides != Decision::none) object["decides"] = name_of(assumption.decides);
  return object;
}

void add_assumption(std::vector<AssumptionRecord>& assumptions, AssumptionRecord assumption) {
  auto same = std::find_if(assumptions.begin(), assumptions.end(),
                           [&](const AssumptionRecord& other) { return is_alike(other, assumption); });
  if (same == assumptions.end()) {
    assumptions.push_back(std::move(assumption));
    return;
  }
  same->count += assumption.count;
  same->bytes += assumption.bytes;
  if (same->taken_for.empty()) same->taken_for = std::move(assumption.taken_for);
  if (same->decides == Decision::none) same->decides = assumption.decides;
}

bool is_deciding(const AssumptionRecord& assumption) {
  return assumption.kind == Assumption::assumed_value && assumption.decides != Decision::none;
}

const AssumptionRecord* first_deciding(const std::vector<AssumptionRecord>& assumptions) {
  auto found = std::find_if(assumptions.begin(), assumptions.end(), is_deciding);
  return found == assumptions.end() ? nullptr : &*found;
}

}  // namespace torchmem
