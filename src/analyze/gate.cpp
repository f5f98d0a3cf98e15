#include "torchmem/gate.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

using Wide = unsigned __int128;

constexpr size_t kept_modules = 20;
constexpr int most_nesting = 200;   // of a baseline; inputs may be dicts of lists of tuples
constexpr size_t shown_bytes = 60;  // of a value that a baseline has

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::bad_input, why); }

// A value of somebody's file within a message: ASCII without control characters, and short.
std::string shown(const json& value) {
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  return text.size() <= shown_bytes ? text : text.substr(0, shown_bytes - 3) + "...";
}

// A text of that file without its quotes.
std::string shown_text(const std::string& text) {
  std::string quoted = shown(text);
  return quoted.substr(1, quoted.size() - (quoted.ends_with('"') ? 2 : 1));
}

// "12.5" of a percentage: 125 and 1000.
bool parse_share(std::string_view text, Tolerance& tolerance) {
  constexpr size_t most_digits = 12;
  tolerance = {0, 100, 0};
  bool point = false;
  size_t digits = 0;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9' || ++digits > most_digits) return false;
    tolerance.numerator = tolerance.numerator * 10 + static_cast<uint64_t>(c - '0');
    if (point) tolerance.denominator *= 10;
  }
  return digits > 0;
}

std::string field_of(const std::string& metric) { return metric + "_bytes"; }

std::optional<uint64_t> number_at(const json& object, const std::string& name) {
  auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

bool is_phase(const std::string& key, const std::string& name) {
  return key == name || key.starts_with(name + ":");
}

std::optional<uint64_t> measured_of(const GateSubject& subject, const json& numbers) {
  const json peak = numbers.value("peak", json::object());
  if (subject.scope == GateSubject::Scope::run) return number_at(peak, field_of(subject.metric));
  if (subject.scope == GateSubject::Scope::category)
    return number_at(peak.value("by_category", json::object()), subject.name);
  std::optional<uint64_t> most;
  const json phases = numbers.value("phases", json::object());
  for (const auto& [key, phase] : phases.items()) {
    if (!is_phase(key, subject.name)) continue;
    if (auto bytes = number_at(phase, field_of(subject.metric))) most = std::max(most.value_or(0), *bytes);
  }
  return most;
}

std::string keys_of(const json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) text += (text.empty() ? "" : ", ") + key;
  return text.empty() ? "none" : text;
}

// "forward:0 to forward:2, load": a thousand iterations are no longer than two.
std::string phases_text(const json& phases) {
  std::map<std::string, std::optional<uint64_t>> last;
  for (const auto& [key, phase] : phases.items()) {
    size_t colon = std::min(key.find(':'), key.size());
    std::optional<uint64_t>& most = last[key.substr(0, colon)];
    uint64_t iteration = 0;
    if (colon == key.size()) continue;
    std::from_chars(key.data() + colon + 1, key.data() + key.size(), iteration);
    most = std::max(most.value_or(0), iteration);
  }
  std::string text;
  for (const auto& [name, most] : last) {
    text += (text.empty() ? "" : ", ") + name + (most ? ":0" : "");
    if (most && *most > 0) text += " to " + name + ":" + std::to_string(*most);
  }
  return text.empty() ? "none" : text;
}

[[noreturn]] void refuse_subject(const GateSubject& subject, const json& numbers) {
  if (subject.scope == GateSubject::Scope::category) {
    const json categories = numbers.value(json::json_pointer("/peak/by_category"), json::object());
    throw Error(ErrorKind::bad_usage,
                "the run has no category '" + subject.name + "'. Categories: " + keys_of(categories) + ".");
  }
  if (subject.scope == GateSubject::Scope::phase) {
    const json phases = numbers.value("phases", json::object());
    bool is_there = false;
    for (const auto& [key, phase] : phases.items()) is_there |= is_phase(key, subject.name);
    if (!is_there) {
      throw Error(ErrorKind::bad_usage,
                  "the run has no phase '" + subject.name + "'. Phases: " + phases_text(phases) + ".");
    }
  }
  throw Error(ErrorKind::bad_usage, "the " + name_of(subject) + " was not measured in this run");
}

std::string phase_key(const Phase& phase) {
  std::string key = phase.name;
  if (phase.iteration) key += ":" + std::to_string(*phase.iteration);
  if (phase.micro) key += "." + std::to_string(*phase.micro);
  return key;
}

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
  refuse("the baseline " + name + " was made with another " + place + ": " + shown(baseline) + " there, " +
         shown(now) + " now. Compare like with like, or make it anew with --update.");
}

void check_kind(const json& baseline, const json& now, const std::string& name) {
  bool was_program = baseline.at("arguments").contains("program");
  if (was_program == now.at("arguments").contains("program")) return;
  refuse("the baseline " + name + " was made for a " + (was_program ? "program" : "model") + ", this is a " +
         (was_program ? "model" : "program") + ". Make one for it with --update.");
}

// {"NAME": bytes, ...}; a name for which `is_table` holds has such a table in turn.
void check_numbers(const json& object, const std::string& place, const std::string& name,
                   bool (*is_table)(const std::string&) = nullptr) {
  if (!object.is_object()) refuse("the baseline " + name + " is damaged: " + place + " is no object");
  for (const auto& [key, value] : object.items()) {
    std::string inner = place + "/" + shown_text(key);
    if (is_table && is_table(key)) {
      check_numbers(value, inner, name);
    } else if (!value.is_number_unsigned()) {
      refuse("the baseline " + name + " is damaged: " + inner + " is " + shown(value) +
             ", not a whole number of bytes");
    }
  }
}

void add_growth(const json& baseline, const json& now, const std::string& prefix,
                std::vector<GateGrowth>& growth) {
  // What the baseline left out of its list was no larger than the least in it.
  uint64_t left_out = 0;
  if (baseline.size() >= kept_modules && !prefix.empty()) {
    left_out = UINT64_MAX;
    for (const auto& [key, value] : baseline.items()) left_out = std::min(left_out, value.get<uint64_t>());
  }
  for (const auto& [key, value] : now.items()) {
    uint64_t before = number_at(baseline, key).value_or(left_out);
    uint64_t bytes = value.get<uint64_t>();
    if (bytes > before) growth.push_back({prefix + (key.empty() ? "(root)" : key), before, bytes});
  }
}

// Lists of the numbers by their places, each with what its names begin with.
std::vector<GateGrowth> growth_in(std::initializer_list<std::pair<const char*, const char*>> lists,
                                  const json& numbers, const json& baseline) {
  std::vector<GateGrowth> growth;
  for (const auto& [list, prefix] : lists) {
    json::json_pointer place(list);
    if (!numbers.contains(place) || !baseline.contains(place)) continue;
    add_growth(baseline[place], numbers[place], prefix, growth);
  }
  std::stable_sort(growth.begin(), growth.end(), [](const GateGrowth& a, const GateGrowth& b) {
    return a.measured - a.baseline > b.measured - b.baseline;
  });
  return growth;
}

}  // namespace

Tolerance parse_tolerance(std::string_view text, std::string_view what) {
  Tolerance tolerance;
  const std::string given = std::string(what) + " " + std::string(text);
  if (text.ends_with('%')) {
    if (parse_share(text.substr(0, text.size() - 1), tolerance)) return tolerance;
    throw Error(ErrorKind::bad_usage, given + ": expected a percentage such as 1% or 0.5%");
  }
  tolerance = {};
  tolerance.bytes = parse_bytes(text, what);
  // A percentage without its sign must not pass for a few bytes.
  const std::string number(text.substr(0, text.find_first_not_of("0123456789.")));
  const std::string_view unit =
      text.substr(std::min(text.size(), text.find_first_not_of(' ', number.size())));
  if (unit.size() > 1 || number.find_first_not_of("0.") == std::string::npos) return tolerance;
  if (number.find('.') != std::string::npos) {
    throw Error(ErrorKind::bad_usage, given + ": bytes are whole. Write a percentage such as " + number +
                                          "%, or a size such as 1536KiB");
  }
  if (unit.empty())
    throw Error(ErrorKind::bad_usage, given + ": of what? Write " + number + "B or " + number + "%");
  return tolerance;
}

uint64_t allowed_bytes(uint64_t baseline, const Tolerance& tolerance) {
  Wide more = Wide{baseline} * tolerance.numerator / tolerance.denominator + tolerance.bytes;
  Wide allowed = Wide{baseline} + more;
  return allowed > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(allowed);
}

std::string name_of(const GateSubject& subject) {
  if (subject.scope == GateSubject::Scope::run) return "peak " + subject.metric;
  if (subject.scope == GateSubject::Scope::phase) return subject.metric + " in " + subject.name;
  return subject.name + " at the peak";
}

json gate_numbers(const Outcome& outcome) {
  json numbers = json::object();
  if (outcome.peak) {
    json& peak = numbers["peak"];
    peak["allocated_bytes"] = outcome.peak->allocated;
    if (outcome.peak->reserved) peak["reserved_bytes"] = *outcome.peak->reserved;
    if (outcome.peak->device_bytes) peak["device_bytes"] = *outcome.peak->device_bytes;
    if (outcome.categories) {
      for (size_t i = 0; i < category_count; ++i)
        peak["by_category"][std::string(name_of(static_cast<Category>(i)))] = (*outcome.categories)[i];
      peak["modules"] = json::object();
      for (size_t i = 0; i < std::min(outcome.modules.size(), kept_modules); ++i)
        peak["modules"][outcome.modules[i].path] = outcome.modules[i].bytes;
    }
  }
  if (outcome.reserved_peak) {
    numbers["reserved_peak"] = {{"pools", outcome.reserved_peak->pools},
                                {"uses", outcome.reserved_peak->uses}};
  }
  for (const Phase& phase : outcome.run.phases) {
    json entry = json::object();
    if (phase.allocated) entry["allocated_bytes"] = phase.allocated->peak;
    if (phase.reserved) entry["reserved_bytes"] = phase.reserved->peak;
    if (phase.device_bytes) entry["device_bytes"] = *phase.device_bytes;
    if (!entry.empty()) numbers["phases"][phase_key(phase)] = std::move(entry);
  }
  return numbers;
}

json make_baseline(const json& numbers, const json& facts) {
  json baseline = numbers;
  baseline["schema"] = "torchmem.baseline/1";
  baseline["torchmem"] = TORCHMEM_VERSION;
  baseline["software"] = facts.value("software", json::object());
  json device = json::object();
  for (const char* name : {"kind", "name", "profile"}) {
    if (const json value = facts.value(json::json_pointer(std::string("/device/") + name), json());
        !value.is_null())
      device[name] = value;
  }
  baseline["device"] = std::move(device);
  json arguments = facts.value("arguments", json::object());
  if (arguments.contains("inputs")) {
    for (const char* kind : {"positional", "named"}) {
      if (!arguments["inputs"].contains(kind)) continue;
      json& given = arguments["inputs"][kind];
      for (json& value : given) value = plain_value(value);
    }
  }
  // Only what was asked for: short, and the same when another option is added to torchmem.
  json set = json::object();
  for (const auto& [name, value] : arguments.items()) {
    if (!is_unset(value)) set[name] = value;
  }
  baseline["arguments"] = std::move(set);
  return baseline;
}

json read_baseline(std::string_view text, const std::string& name) {
  // Copying, comparing and printing a document go as deep as it does.
  bool too_deep = false;
  auto limit = [&](int depth, json::parse_event_t, json&) {
    too_deep |= depth > most_nesting;
    return depth <= most_nesting;
  };
  json baseline = json::parse(text, limit, /*allow_exceptions=*/false);
  if (too_deep) {
    refuse("the file " + name + " is not a baseline: it is nested more than " + std::to_string(most_nesting) +
           " deep. Make one with torchmem gate --baseline FILE --update.");
  }
  if (baseline.is_discarded()) {
    refuse("the baseline " + name + " is not JSON: damaged, truncated, or another kind of file. " +
           "Make it with torchmem gate --baseline FILE --update.");
  }
  std::string schema = baseline.is_object() && baseline.value("schema", json()).is_string()
                           ? baseline["schema"].get<std::string>()
                           : "";
  if (schema != "torchmem.baseline/1") {
    if (schema.starts_with("torchmem.baseline/")) {
      refuse("the baseline " + name + " is of a newer torchmem (" + shown_text(schema) +
             "); this one reads torchmem.baseline/1");
    }
    refuse("the file " + name + " is not a baseline: expected \"schema\": \"torchmem.baseline/1\"" +
           (schema.empty() ? "" : ", found " + shown(schema)) +
           ". Make one with torchmem gate --baseline FILE --update.");
  }
  for (const char* part : {"arguments", "device", "software"}) {
    if (!baseline.contains(part) || !baseline[part].is_object())
      refuse("the baseline " + name + " is damaged: \"" + part + "\" is missing or no object");
  }
  check_numbers(baseline.value("peak", json()), "peak", name,
                [](const std::string& key) { return key == "by_category" || key == "modules"; });
  if (!baseline["peak"].contains("allocated_bytes"))
    refuse("the baseline " + name + " is damaged: it has no peak/allocated_bytes");
  for (const char* part : {"reserved_peak", "phases"}) {
    if (!baseline.contains(part)) continue;
    check_numbers(baseline[part], part, name, [](const std::string&) { return true; });
  }
  return baseline;
}

std::vector<std::string> compare_baselines(const json& baseline, const json& now, const std::string& name) {
  check_kind(baseline, now, name);
  check_same(baseline.at("device"), now.at("device"), "device", name);
  check_same(baseline.at("arguments"), now.at("arguments"), "arguments", name);
  std::vector<std::string> warnings;
  json all = now.at("software");
  all.update(baseline.at("software"));
  auto compare = [&](const std::string& what, const json& before, const json& after) {
    if (before == after) return;
    auto text = [](const json& version) {
      return version.is_string() ? shown_text(version.get<std::string>())
             : version.is_null() ? "none"
                                 : shown(version);
    };
    warnings.push_back("the baseline was made with " + shown_text(what) + " " + text(before) + ", this is " +
                       text(after));
  };
  compare("torchmem", baseline.value("torchmem", json()), now.value("torchmem", json()));
  for (const auto& [key, value] : all.items())
    compare(key, baseline["software"].value(key, json()), now["software"].value(key, json()));
  return warnings;
}

std::vector<GateCheck> check_gate(const std::vector<GateSubject>& subjects, const json& numbers,
                                  const json& baseline, const Tolerance& tolerance,
                                  std::optional<uint64_t> budget) {
  std::vector<GateCheck> checks;
  for (const GateSubject& subject : subjects) {
    std::optional<uint64_t> measured = measured_of(subject, numbers);
    if (!measured) refuse_subject(subject, numbers);
    if (!baseline.is_null()) {
      std::optional<uint64_t> before = measured_of(subject, baseline);
      if (!before) refuse("the baseline has no " + name_of(subject) + "; make it anew with --update");
      checks.push_back(
          {name_of(subject), *measured, before, allowed_bytes(*before, tolerance), subject.metric});
    }
    if (budget) checks.push_back({name_of(subject), *measured, std::nullopt, *budget, subject.metric});
  }
  return checks;
}

std::vector<GateGrowth> find_gate_growth(const json& numbers, const json& baseline) {
  return growth_in({{"/peak/by_category", ""}, {"/peak/modules", "module "}}, numbers, baseline);
}

std::vector<GateGrowth> find_reserved_growth(const json& numbers, const json& baseline) {
  return growth_in({{"/reserved_peak/pools", "segments of the "}, {"/reserved_peak/uses", ""}}, numbers,
                   baseline);
}

}  // namespace torchmem
