// A baseline's file.
#include <spdlog/fmt/fmt.h>

#include <utility>

#include "analyze/foreign_text.h"
#include "torchmem/baseline.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr int most_nesting = 200;  // of a baseline; inputs may be dicts of lists of tuples

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::bad_input, fmt::format("the baseline {} is {}", name, why));
}

[[noreturn]] void refuse_other(const std::string& name, const std::string& why) {
  throw Error(
      ErrorKind::bad_input,
      fmt::format("the file {} is not a baseline: {}. Make one with torchmem gate --baseline FILE --update.",
                  name, why));
}

std::string field_of(Metric metric) { return std::string(name_of(metric)) + "_bytes"; }

// Copying, comparing and printing a document go as deep as it does.
json parse_document(std::string_view text, const std::string& name) {
  bool too_deep = false;
  auto limit = [&](int depth, json::parse_event_t, json&) {
    too_deep |= depth > most_nesting;
    return depth <= most_nesting;
  };
  json document = json::parse(text, limit, /*allow_exceptions=*/false);
  if (too_deep) refuse_other(name, fmt::format("it is nested more than {} deep", most_nesting));
  if (document.is_discarded()) {
    refuse(
        name,
        "not JSON: damaged, truncated, or another kind of file. Make it with torchmem gate --baseline FILE "
        "--update.");
  }
  return document;
}

void check_schema(const json& document, const std::string& name) {
  std::string schema = document.is_object() && document.value("schema", json()).is_string()
                           ? document["schema"].get<std::string>()
                           : "";
  if (schema == "torchmem.baseline/1") return;
  if (schema.starts_with("torchmem.baseline/")) {
    refuse(name,
           fmt::format("of a newer torchmem ({}); this one reads torchmem.baseline/1", shown_text(schema)));
  }
  refuse_other(name, "expected \"schema\": \"torchmem.baseline/1\"" +
                         (schema.empty() ? "" : ", found " + shown(schema)));
}

// {"NAME": bytes, ...}; a name for which `is_table` holds has such a table in turn.
void check_numbers(const json& object, const std::string& place, const std::string& name,
                   bool (*is_table)(const std::string&) = nullptr) {
  if (!object.is_object()) refuse(name, fmt::format("damaged: {} is no object", place));
  for (const auto& [key, value] : object.items()) {
    std::string inner = place + "/" + shown_text(key);
    if (is_table && is_table(key)) {
      check_numbers(value, inner, name);
    } else if (!value.is_number_unsigned()) {
      refuse(name, fmt::format("damaged: {} is {}, not a whole number of bytes", inner, shown(value)));
    }
  }
}

void check_document(const json& document, const std::string& name) {
  for (const char* part : {"arguments", "device", "software"}) {
    if (!document.contains(part) || !document[part].is_object())
      refuse(name, fmt::format("damaged: \"{}\" is missing or no object", part));
  }
  check_numbers(document.value("peak", json()), "peak", name,
                [](const std::string& key) { return key == "by_category" || key == "modules"; });
  if (!document["peak"].contains("allocated_bytes")) refuse(name, "damaged: it has no peak/allocated_bytes");
  for (const char* part : {"reserved_peak", "phases"}) {
    if (!document.contains(part)) continue;
    check_numbers(document[part], part, name, [](const std::string&) { return true; });
  }
}

MetricBytes metrics_from(const json& object) {
  MetricBytes bytes;
  for (Metric metric : metrics) {
    if (auto found = object.find(field_of(metric)); found != object.end())
      bytes[metric] = found->get<uint64_t>();
  }
  return bytes;
}

std::optional<BytesByName> table_at(const json& document, const char* place) {
  const json::json_pointer pointer(place);
  if (!document.contains(pointer)) return std::nullopt;
  return document[pointer].get<BytesByName>();
}

// Texts by name; what is none stays as JSON writes it, to be told where it differs.
std::map<std::string, std::string> texts_from(const json& object) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : object.items()) {
    if (!value.is_null()) texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return texts;
}

json metrics_to_json(const MetricBytes& bytes) {
  json object = json::object();
  for (Metric metric : metrics) {
    if (bytes[metric]) object[field_of(metric)] = *bytes[metric];
  }
  return object;
}

}  // namespace

Baseline read_baseline(std::string_view text, const std::string& name) {
  const json document = parse_document(text, name);
  check_schema(document, name);
  check_document(document, name);
  Baseline baseline;
  GateNumbers& numbers = baseline.numbers;
  numbers.peak = metrics_from(document["peak"]);
  numbers.categories = table_at(document, "/peak/by_category");
  numbers.modules = table_at(document, "/peak/modules");
  numbers.pools = table_at(document, "/reserved_peak/pools");
  numbers.uses = table_at(document, "/reserved_peak/uses");
  const json phases = document.value("phases", json::object());
  for (const auto& [key, phase] : phases.items()) numbers.phases[key] = metrics_from(phase);
  if (const json version = document.value("torchmem", json()); version.is_string())
    baseline.torchmem = version.get<std::string>();
  baseline.software = texts_from(document["software"]);
  baseline.device = texts_from(document["device"]);
  baseline.arguments = document["arguments"];
  return baseline;
}

json numbers_to_json(const GateNumbers& numbers) {
  json result = json::object();
  auto put = [&](const char* part, const char* name, const std::optional<BytesByName>& table) {
    if (table) result[part][name] = *table;
  };
  if (json peak = metrics_to_json(numbers.peak); !peak.empty()) result["peak"] = std::move(peak);
  put("peak", "by_category", numbers.categories);
  put("peak", "modules", numbers.modules);
  put("reserved_peak", "pools", numbers.pools);
  put("reserved_peak", "uses", numbers.uses);
  for (const auto& [key, phase] : numbers.phases) result["phases"][key] = metrics_to_json(phase);
  return result;
}

json baseline_to_json(const Baseline& baseline) {
  json result = numbers_to_json(baseline.numbers);
  result["schema"] = "torchmem.baseline/1";
  result["torchmem"] = baseline.torchmem;
  result["software"] = baseline.software;
  result["device"] = baseline.device;
  result["arguments"] = baseline.arguments;
  return result;
}

}  // namespace torchmem
