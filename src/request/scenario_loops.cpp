#include "request/scenario_loops.h"

#include <algorithm>
#include <cstdint>

#include "request/json_file.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

// As texts; and as numbers, where all of them are.
struct Values {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
};

[[noreturn]] void refuse_turns(const ScenarioFields& fields, const std::string& place, uint64_t turns) {
  fields.refuse(place, "it has " + format_count(turns) + " turns, but a scenario may come to " +
                           format_count(most_scenario_steps) + " actions at most");
}

std::vector<int64_t> range(const ScenarioFields& fields, const json& object, const std::string& place) {
  fields.check_fields(object, place, {"from", "to", "step"});
  for (const char* name : {"from", "to"}) {
    if (!object.contains(name)) fields.refuse(place, std::string("\"") + name + "\" is missing");
  }
  int64_t from = fields.whole(object["from"], at(place, "from"), 0);
  int64_t to = fields.whole(object["to"], at(place, "to"), 0);
  int64_t step = object.contains("step") ? fields.whole(object["step"], at(place, "step"), 1) : 1;
  int64_t turns = (to >= from ? to - from : from - to) / step;  // after the first
  if (turns >= static_cast<int64_t>(most_scenario_steps))
    refuse_turns(fields, place, static_cast<uint64_t>(turns) + 1);
  std::vector<int64_t> values;
  for (int64_t turn = 0; turn <= turns; ++turn) values.push_back(from + (to >= from ? step : -step) * turn);
  return values;
}

Values listed(const ScenarioFields& fields, const json& repeat, const std::string& here) {
  Values values;
  bool all_numbers = true;
  for (size_t i = 0; i < repeat.size(); ++i) {
    const json& item = repeat[i];
    if (!item.is_string() && !item.is_number_integer())
      fields.refuse(here + "[" + std::to_string(i) + "]",
                    "expected a string or a whole number, got " + brief(item));
    all_numbers = all_numbers && item.is_number_integer();
    values.texts.push_back(item.is_string() ? fields.replaced(item.get<std::string>(), here) : item.dump());
    if (item.is_number_integer()) values.numbers.push_back(item.get<int64_t>());
  }
  if (!all_numbers) values.numbers.clear();
  return values;
}

Values as_given(const ScenarioFields& fields, const json& repeat, const std::string& here) {
  if (repeat.is_array()) return listed(fields, repeat, here);
  Values values;
  if (repeat.is_object()) {
    values.numbers = range(fields, repeat, here);
  } else {
    int64_t count = fields.whole(repeat, here, 1);
    if (count > static_cast<int64_t>(most_scenario_steps))
      refuse_turns(fields, here, static_cast<uint64_t>(count));
    for (int64_t i = 0; i < count; ++i) values.numbers.push_back(i);
  }
  for (int64_t number : values.numbers) values.texts.push_back(std::to_string(number));
  return values;
}

}  // namespace

std::vector<std::string> loop_values(const ScenarioFields& fields, const json& object,
                                     const std::string& place) {
  std::string here = at(place, "repeat");
  auto [values, numbers] = as_given(fields, object["repeat"], here);
  if (values.empty()) fields.refuse(here, "there is nothing to repeat with");
  bool pads = object.contains("pad");
  bool buckets = object.contains("bucket");
  if (!pads && !buckets) return values;
  if (pads && buckets) fields.refuse(place, "\"pad\" and \"bucket\" are two ways of the same; give one");
  if (numbers.empty()) fields.refuse(at(place, pads ? "pad" : "bucket"), "the values must be whole numbers");
  int64_t largest = *std::max_element(numbers.begin(), numbers.end());
  int64_t bound = pads ? (object["pad"] == "max" ? largest : fields.whole(object["pad"], at(place, "pad"), 1))
                       : fields.whole(object["bucket"], at(place, "bucket"), 1);
  if (pads && bound < largest)
    fields.refuse(at(place, "pad"), "the longest is " + std::to_string(largest) + ", which is more than " +
                                        std::to_string(bound));
  if (largest > INT64_MAX - bound) fields.refuse(here, "the values are too large");
  values.clear();
  for (int64_t number : numbers)
    values.push_back(std::to_string(pads ? bound : (number + bound - 1) / bound * bound));
  return values;
}

}  // namespace torchmem
