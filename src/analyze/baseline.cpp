#include "torchmem/baseline.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

#include "analyze/foreign_text.h"
#include "analyze/phase_time.h"
#include "run/run_info_json.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

// A VALUE of the engine's request as it is written on the command line or in an inputs file.
json plain_value(const json& value) {
  if (value.is_array()) {
    json list = json::array();
    for (const json& item : value) list.push_back(plain_value(item));
    return list;
  }
  if (!value.is_object() || value.size() != 1) return value;
  const std::string kind = value.begin().key();
  json inner = value.begin().value();
  if (kind == "tensor" && inner.is_object()) return inner.value("spec", inner);
  if (kind == "file" && inner.is_string()) return "@" + inner.get<std::string>();
  if (kind == "scalar") return inner;
  if (kind == "string") return {{"$string", inner}};
  if (kind == "tuple") return {{"$tuple", plain_value(inner)}};
  if (kind == "list") return plain_value(inner);
  json dict = json::object();
  if (kind != "dict" || !inner.is_object()) return value;
  for (const auto& [name, item] : inner.items()) dict[name] = plain_value(item);
  return dict;
}

// What was not given is the same as what an older torchmem did not know.
bool is_unset(const json& value) { return value.is_null() || value == false || value == json::array(); }

// Only what was asked for: short, and the same when another option is added to torchmem.
json asked_for(json arguments) {
  if (arguments.contains("inputs")) {
    for (const char* kind : {"positional", "named"}) {
      if (!arguments["inputs"].contains(kind)) continue;
      json& given = arguments["inputs"][kind];
      for (json& value : given) value = plain_value(value);
    }
  }
  json set = json::object();
  for (const auto& [name, value] : arguments.items()) {
    if (!is_unset(value)) set[name] = value;
  }
  return set;
}

void check_same(const json& baseline, const json& now, const std::string& place, const std::string& name) {
  if (baseline.is_object() && now.is_object()) {
    json all = baseline;
    all.update(now);
    for (const auto& [key, value] : all.items())
      check_same(baseline.value(key, json()), now.value(key, json()), place + "." + shown_text(key), name);
    return;
  }
  if (baseline.is_array() && now.is_array() && baseline.size() == now.size()) {
    for (size_t i = 0; i < now.size(); ++i)
      check_same(baseline[i], now[i], place + "." + std::to_string(i), name);
    return;
  }
  if (baseline == now || (is_unset(baseline) && is_unset(now))) return;
  throw Error(
      ErrorKind::bad_input,
      fmt::format(
          "the baseline {} was made with another {}: {} there, {} now. Compare like with like, or make "
          "it anew with --update.",
          name, place, shown(baseline), shown(now)));
}

void check_kind(const Baseline& baseline, const Baseline& now, const std::string& name) {
  auto kind = [](const Baseline& of) { return of.arguments.contains("program") ? "program" : "model"; };
  if (baseline.arguments.contains("program") == now.arguments.contains("program")) return;
  throw Error(ErrorKind::bad_input,
              fmt::format("the baseline {} was made for a {}, this is a {}. Make one for it with --update.",
                          name, kind(baseline), kind(now)));
}

}  // namespace

std::string_view name_of(Metric metric) {
  switch (metric) {
    case Metric::reserved:
      return "reserved";
    case Metric::device:
      return "device";
    default:
      return "allocated";
  }
}

std::optional<Metric> metric_from(std::string_view name) {
  for (Metric metric : metrics) {
    if (name_of(metric) == name) return metric;
  }
  return std::nullopt;
}

const std::optional<uint64_t>& MetricBytes::operator[](Metric metric) const {
  return metric == Metric::allocated ? allocated : metric == Metric::reserved ? reserved : device;
}

std::optional<uint64_t>& MetricBytes::operator[](Metric metric) {
  return metric == Metric::allocated ? allocated : metric == Metric::reserved ? reserved : device;
}

GateNumbers gate_numbers(const RunResult& outcome) {
  GateNumbers numbers;
  if (outcome.peak) {
    numbers.peak = {outcome.peak->allocated, outcome.peak->reserved, outcome.peak->device_bytes};
    if (outcome.categories) {
      BytesByName& categories = numbers.categories.emplace();
      for (size_t i = 0; i < category_count; ++i)
        categories[std::string(name_of(static_cast<Category>(i)))] = (*outcome.categories)[i];
      BytesByName& modules = numbers.modules.emplace();
      for (size_t i = 0; i < std::min(outcome.modules.size(), kept_modules); ++i)
        modules[outcome.modules[i].path] = outcome.modules[i].bytes;
    }
  }
  if (outcome.reserved_peak) {
    numbers.pools = outcome.reserved_peak->pools;
    numbers.uses = outcome.reserved_peak->uses;
  }
  for (const Phase& phase : outcome.run.phases) {
    MetricBytes most;
    if (phase.allocated) most.allocated = phase.allocated->peak;
    if (phase.reserved) most.reserved = phase.reserved->peak;
    most.device = phase.device_bytes;
    if (most != MetricBytes{}) numbers.phases[name_of_phase(phase, true)] = most;
  }
  return numbers;
}

Baseline baseline_of(const RunResult& outcome) {
  const RunInfo& info = outcome.run.info;
  const json told = info_json(info);
  Baseline baseline;
  baseline.numbers = gate_numbers(outcome);
  baseline.torchmem = TORCHMEM_VERSION;
  const json software = told.value("software", json::object());
  for (const auto& [name, version] : software.items()) {
    if (version.is_string()) baseline.software[name] = version.get<std::string>();
  }
  for (const auto& [name, value] :
       {std::pair{"kind", info.device.kind}, {"name", info.device.name}, {"profile", info.device.profile}}) {
    if (!value.empty()) baseline.device[name] = value;
  }
  baseline.arguments = asked_for(told.value("arguments", json::object()));
  return baseline;
}

std::vector<std::string> compare_baselines(const Baseline& baseline, const Baseline& now,
                                           const std::string& name) {
  check_kind(baseline, now, name);
  check_same(json(baseline.device), json(now.device), "device", name);
  check_same(baseline.arguments, now.arguments, "arguments", name);
  std::vector<std::string> warnings;
  auto compare = [&](const std::string& what, const std::string& before, const std::string& after) {
    if (before == after) return;
    auto text = [](const std::string& version) { return version.empty() ? "none" : shown_text(version); };
    warnings.push_back(fmt::format("the baseline was made with {} {}, this is {}", shown_text(what),
                                   text(before), text(after)));
  };
  compare("torchmem", baseline.torchmem, now.torchmem);
  auto version = [](const Baseline& of, const std::string& what) {
    auto found = of.software.find(what);
    return found == of.software.end() ? "" : found->second;
  };
  std::set<std::string> all;
  for (const Baseline* of : {&baseline, &now}) {
    for (const auto& [what, text] : of->software) all.insert(what);
  }
  for (const std::string& what : all) compare(what, version(baseline, what), version(now, what));
  return warnings;
}

}  // namespace torchmem
