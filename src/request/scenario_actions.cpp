#include "request/scenario_actions.h"

#include <algorithm>
#include <filesystem>

#include "request/json_file.h"
#include "request/model_file.h"
#include "request/optimizers.h"
#include "request/run_request.h"
#include "request/scenario_loops.h"
#include "request/spec.h"
#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

ScenarioStep& add(ScenarioReading& in, const std::string& place, std::string label, json action = nullptr) {
  if (in.file.scenario.steps.size() >= most_scenario_steps)
    in.fields.refuse(place, "the loops come to more than " + format_count(most_scenario_steps) + " actions");
  ScenarioStep step;
  step.place = place;
  for (const auto& [name, value] : in.loops) step.loop += (step.loop.empty() ? "" : " ") + name + "=" + value;
  step.label = std::move(label);
  step.action = std::move(action);
  step.lists = in.lists;
  in.file.scenario.steps.push_back(std::move(step));
  return in.file.scenario.steps.back();
}

void load(ScenarioReading& in, const json& object, const std::string& place) {
  std::string given = in.fields.text(object, place, "load");
  fs::path model = given;
  if (model.is_relative()) model = fs::path(in.path).parent_path() / model;
  try {
    check_model_file(model);
  } catch (const Error& error) {
    throw Error(error.kind(), in.fields.where(at(place, "load")) + ": " + said_of(model.string(), error));
  }
  in.file.models.push_back(model.string());
  std::string name = in.names.made(object, place, Thing::model);
  json action = {{"do", "load"}, {"as", name}, {"model", model.string()}};
  if (object.contains("method")) action["method"] = in.fields.text(object, place, "method");
  if (object.contains("dtype"))
    action["dtype"] =
        in.fields.one_of(in.fields.text(object, place, "dtype"), at(place, "dtype"), {"f32", "f16", "bf16"});
  if (object.contains("checkpoint")) action["checkpoint"] = in.fields.texts(object, place, "checkpoint");
  for (const char* field : {"train", "channels_last", "inplace"}) {
    if (object.contains(field)) action[field] = in.fields.truth(object, place, field);
  }
  add(in, place, "load " + name + " " + given, std::move(action));
}

json input_value(const ScenarioFields& fields, const std::string& spec, const std::string& place) {
  Spec parsed;
  try {
    parsed = parse_spec(spec);
  } catch (const Error& error) {
    fields.refuse(place, said_of(spec, error));
  }
  if (!parsed.name.empty()) fields.refuse(place, in_quotes(spec) + " has a name; \"as\" names it");
  return parsed.value;
}

void input(ScenarioReading& in, const json& object, const std::string& place) {
  std::string spec = in.fields.text(object, place, "input");
  std::string name = in.names.made(object, place, Thing::value);
  add(in, place, "input " + name + " " + spec,
      {{"do", "input"}, {"as", name}, {"value", input_value(in.fields, spec, at(place, "input"))}});
}

void forward(ScenarioReading& in, const json& object, const std::string& place) {
  std::string model =
      in.names.used(in.fields.text(object, place, "forward"), at(place, "forward"), {Thing::model});
  json inputs = json::array();
  const std::vector<std::string> shown = in.fields.texts(object, place, "inputs");
  for (const std::string& given : shown) {
    bool is_spec = given.find(':') != std::string::npos || given.starts_with('@');
    inputs.push_back(is_spec ? input_value(in.fields, given, at(place, "inputs"))
                             : json{{"name", in.names.used(given, at(place, "inputs"), {Thing::value})}});
  }
  std::string name = in.names.made(object, place, Thing::value);
  add(in, place, name + " = " + model + "(" + joined(shown) + ")",
      {{"do", "forward"}, {"as", name}, {"model", model}, {"inputs", std::move(inputs)}});
}

void loss(ScenarioReading& in, const json& object, const std::string& place) {
  std::string of = in.names.used(in.fields.text(object, place, "loss"), at(place, "loss"), {Thing::value});
  std::string kind =
      in.fields.one_of(in.fields.text_or(object, place, "kind", "sum"), at(place, "kind"), loss_names());
  std::string name = in.names.made(object, place, Thing::value);
  json action = {{"do", "loss"}, {"as", name}, {"of", of}, {"kind", kind}};
  if (object.contains("on")) action["on"] = in.fields.text(object, place, "on");
  add(in, place, name + " = " + kind + " of " + of, std::move(action));
}

void backward(ScenarioReading& in, const json& object, const std::string& place) {
  std::string of =
      in.names.used(in.fields.text(object, place, "backward"), at(place, "backward"), {Thing::value});
  add(in, place, "backward " + of, {{"do", "backward"}, {"of", of}});
}

void detach(ScenarioReading& in, const json& object, const std::string& place) {
  std::string of =
      in.names.used(in.fields.text(object, place, "detach"), at(place, "detach"), {Thing::value});
  std::string name = in.names.made(object, place, Thing::value);
  add(in, place, name + " = " + of + ".detach()", {{"do", "detach"}, {"of", of}, {"as", name}});
}

void optimizer(ScenarioReading& in, const json& object, const std::string& place) {
  std::string given = in.fields.text(object, place, "optimizer");
  json action = {{"do", "optimizer"}};
  try {
    auto [name, form] = parse_optimizer(given, "the optimizer");
    action["optimizer"] = name;
    action["form"] = form;
  } catch (const Error& error) {
    in.fields.refuse(at(place, "optimizer"), said_of(given, error));
  }
  std::vector<std::string> models;
  for (const std::string& name : in.fields.texts(object, place, "of")) {
    if (std::find(models.begin(), models.end(), name) != models.end())
      in.fields.refuse(at(place, "of"), in_quotes(name) + " is given twice");
    models.push_back(in.names.used(name, at(place, "of"), {Thing::model}));
  }
  action["models"] = models;
  std::string name = in.names.made(object, place, Thing::optimizer);
  action["as"] = name;
  add(in, place, name + " = " + given + " of " + joined(models), std::move(action));
}

void step(ScenarioReading& in, const json& object, const std::string& place) {
  std::string name =
      in.names.used(in.fields.text(object, place, "step"), at(place, "step"), {Thing::optimizer});
  add(in, place, "step " + name, {{"do", "step"}, {"optimizer", name}});
}

void zero_grad(ScenarioReading& in, const json& object, const std::string& place) {
  std::string name =
      in.names.used(in.fields.text(object, place, "zero_grad"), at(place, "zero_grad"), {Thing::optimizer});
  bool keeps = object.contains("set_to_none") && !in.fields.truth(object, place, "set_to_none");
  add(in, place, "zero_grad " + name + (keeps ? ", set_to_none=False" : ""),
      {{"do", "zero_grad"}, {"optimizer", name}, {"keep", keeps}});
}

void keep(ScenarioReading& in, const json& object, const std::string& place) {
  std::string of = in.names.used(in.fields.text(object, place, "keep"), at(place, "keep"), {Thing::value});
  std::string list = in.names.list(in.fields.text(object, place, "in"), at(place, "in"));
  add(in, place, "keep " + of + " in " + list, {{"do", "keep"}, {"of", of}, {"in", list}});
}

void release(ScenarioReading& in, const json& object, const std::string& place) {
  std::vector<std::string> names = in.fields.texts(object, place, "release");
  for (const std::string& name : names) {
    in.names.used(name, at(place, "release"), {Thing::value, Thing::list, Thing::model, Thing::optimizer});
    in.names.release(name);
  }
  add(in, place, "release " + joined(names), {{"do", "release"}, {"names", names}});
}

void alloc(ScenarioReading& in, const json& object, const std::string& place) {
  uint64_t bytes = in.fields.size(object, place, "alloc");
  if (bytes > static_cast<uint64_t>(INT64_MAX)) in.fields.refuse(at(place, "alloc"), "the size is too large");
  std::string name = in.names.made(object, place, Thing::value);
  add(in, place, "alloc " + name + " " + format_bytes(bytes),
      {{"do", "alloc"}, {"as", name}, {"bytes", bytes}});
}

void empty_cache(ScenarioReading& in, const json& object, const std::string& place) {
  in.fields.only_true(object, place, "empty_cache");
  add(in, place, "empty_cache", {{"do", "empty_cache"}});
}

void autocast(ScenarioReading& in, const json& object, const std::string& place) {
  const json& value = object["autocast"];
  if (value == false) {
    add(in, place, "autocast off", {{"do", "autocast"}, {"dtype", nullptr}});
    return;
  }
  if (!value.is_string())
    in.fields.refuse(at(place, "autocast"), "expected \"bf16\", \"f16\" or false, got " + brief(value));
  std::string dtype =
      in.fields.one_of(in.fields.text(object, place, "autocast"), at(place, "autocast"), {"bf16", "f16"});
  add(in, place, "autocast " + dtype, {{"do", "autocast"}, {"dtype", dtype}});
}

void no_grad(ScenarioReading& in, const json& object, const std::string& place) {
  bool on = in.fields.truth(object, place, "no_grad");
  add(in, place, on ? "no_grad on" : "no_grad off", {{"do", "grad"}, {"on", !on}});
}

void limit(ScenarioReading& in, const json& object, const std::string& place) {
  if (object["limit"] == false) {
    add(in, place, "limit off", {{"do", "limit"}, {"bytes", nullptr}});
    return;
  }
  uint64_t bytes = in.fields.size(object, place, "limit");
  add(in, place, "limit " + format_bytes(bytes), {{"do", "limit"}, {"bytes", bytes}});
}

void mark(ScenarioReading& in, const json& object, const std::string& place) {
  std::string name = in.fields.text(object, place, "mark");
  add(in, place, "mark " + name).mark = name;
  in.marks.insert(name);
}

void expect(ScenarioReading& in, const json& object, const std::string& place) {
  const json& wanted = object["expect"];
  std::string here = at(place, "expect");
  if (!wanted.is_object() || wanted.empty())
    in.fields.refuse(here,
                     "expected an object such as {\"reserved_bytes\": \">= 3GiB\"}, got " + brief(wanted));
  std::vector<std::string> known = scenario_numbers();
  std::vector<Expectation> expectations;
  std::vector<std::string> shown;
  for (const auto& [name, value] : wanted.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      in.fields.refuse(at(here, brief(name)), "there is no such number; expected " + joined(known));
    std::string condition =
        value.is_number_unsigned() ? "== " + value.dump() : in.fields.text(wanted, here, name);
    try {
      expectations.push_back(parse_expectation(name, condition));
    } catch (const Error& error) {
      in.fields.refuse(at(here, name), said_of(condition, error));
    }
    const std::string& mark = expectations.back().mark;
    if (!mark.empty() && !in.marks.count(mark))
      in.fields.refuse(at(here, name), "there is no mark " + in_quotes(mark) + " before it");
    shown.push_back(name + " " + condition);
  }
  add(in, place, "expect " + joined(shown)).expectations = std::move(expectations);
}

void expect_oom(ScenarioReading& in, const json& object, const std::string& place) {
  in.fields.only_true(object, place, "expect_oom");
  add(in, place, "expect out of memory").expects_out_of_memory = true;
}

struct Kind {
  const char* name;   // the field that makes it this action
  FieldNames fields;  // the others that it may have
  void (*read)(ScenarioReading& in, const json& object, const std::string& place);
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {
      {"load", {"as", "method", "train", "dtype", "channels_last", "checkpoint", "inplace"}, load},
      {"input", {"as"}, input},
      {"forward", {"inputs", "as"}, forward},
      {"loss", {"kind", "on", "as"}, loss},
      {"backward", {}, backward},
      {"detach", {"as"}, detach},
      {"optimizer", {"of", "as"}, optimizer},
      {"step", {}, step},
      {"zero_grad", {"set_to_none"}, zero_grad},
      {"keep", {"in"}, keep},
      {"release", {}, release},
      {"alloc", {"as"}, alloc},
      {"empty_cache", {}, empty_cache},
      {"autocast", {}, autocast},
      {"no_grad", {}, no_grad},
      {"limit", {}, limit},
      {"mark", {}, mark},
      {"expect", {}, expect},
      {"expect_oom", {}, expect_oom},
  };
  return table;
}

}  // namespace

void read_action(ScenarioReading& in, const json& object, const std::string& place) {
  const Kind* kind = nullptr;
  for (const Kind& candidate : kinds()) {
    if (!object.contains(candidate.name)) continue;
    // "limit" and others are never fields of another action.
    if (kind)
      in.fields.refuse(place, std::string("it is two actions, ") + kind->name + " and " + candidate.name);
    kind = &candidate;
  }
  if (!kind) {
    std::vector<std::string> names;
    for (const Kind& candidate : kinds()) names.emplace_back(candidate.name);
    in.fields.refuse(place, "no action is named. Actions: " + joined(names) + ", repeat");
  }
  FieldNames known = kind->fields;
  known.insert(kind->name);
  in.fields.check_fields(object, place, known);
  kind->read(in, object, place);
}

}  // namespace torchmem
