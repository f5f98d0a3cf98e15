#include "torchmem/gate.h"

#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace {

using Wide = unsigned __int128;

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

bool is_phase(const std::string& key, const std::string& name) {
  return key == name || key.starts_with(name + ":");
}

std::optional<uint64_t> number_in(const std::optional<BytesByName>& table, const std::string& name) {
  if (!table) return std::nullopt;
  auto found = table->find(name);
  return found == table->end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint64_t> measured_of(const GateSubject& subject, const GateNumbers& numbers) {
  if (subject.scope == GateSubject::Scope::run) return numbers.peak[subject.metric];
  if (subject.scope == GateSubject::Scope::category) return number_in(numbers.categories, subject.name);
  std::optional<uint64_t> most;
  for (const auto& [key, phase] : numbers.phases) {
    if (is_phase(key, subject.name)) most = std::max(most, phase[subject.metric]);
  }
  return most;
}

std::string keys_of(const std::optional<BytesByName>& table) {
  if (!table || table->empty()) return "none";
  std::vector<std::string> names;
  for (const auto& [name, bytes] : *table) names.push_back(name);
  return joined(names);
}

// "forward:0 to forward:2, load": a thousand iterations are no longer than two.
std::string phases_text(const std::map<std::string, MetricBytes>& phases) {
  std::map<std::string, std::optional<uint64_t>> last;
  for (const auto& [key, bytes] : phases) {
    size_t colon = std::min(key.find(':'), key.size());
    std::optional<uint64_t>& most = last[key.substr(0, colon)];
    uint64_t iteration = 0;
    if (colon == key.size()) continue;
    std::from_chars(key.data() + colon + 1, key.data() + key.size(), iteration);
    most = std::max(most.value_or(0), iteration);
  }
  std::vector<std::string> texts;
  for (const auto& [name, most] : last) {
    texts.push_back(name + (most ? ":0" : ""));
    if (most && *most > 0) texts.back() += fmt::format(" to {}:{}", name, *most);
  }
  return texts.empty() ? "none" : joined(texts);
}

[[noreturn]] void refuse_subject(const GateSubject& subject, const GateNumbers& numbers) {
  auto is_there = [&](const auto& phase) { return is_phase(phase.first, subject.name); };
  std::string why = fmt::format("the {} was not measured in this run", name_of(subject));
  if (subject.scope == GateSubject::Scope::category) {
    why = fmt::format("the run has no category '{}'. Categories: {}.", subject.name,
                      keys_of(numbers.categories));
  } else if (subject.scope == GateSubject::Scope::phase &&
             std::none_of(numbers.phases.begin(), numbers.phases.end(), is_there)) {
    why = fmt::format("the run has no phase '{}'. Phases: {}.", subject.name, phases_text(numbers.phases));
  }
  throw Error(ErrorKind::bad_usage, why);
}

// Adds what there is more of; `prefix` is what its names begin with. Nothing where one of the two does not
// say.
void add_growth(const std::optional<BytesByName>& baseline, const std::optional<BytesByName>& now,
                const std::string& prefix, std::vector<GateGrowth>& growth) {
  if (!baseline || !now) return;
  // What the baseline left out of its list was no larger than the least in it.
  uint64_t left_out = 0;
  if (baseline->size() >= kept_modules && !prefix.empty()) {
    left_out = UINT64_MAX;
    for (const auto& [name, bytes] : *baseline) left_out = std::min(left_out, bytes);
  }
  for (const auto& [name, bytes] : *now) {
    uint64_t before = number_in(baseline, name).value_or(left_out);
    if (bytes > before) growth.push_back({prefix + (name.empty() ? "(root)" : name), before, bytes});
  }
}

void sort_growth(std::vector<GateGrowth>& growth) {
  std::stable_sort(growth.begin(), growth.end(), [](const GateGrowth& a, const GateGrowth& b) {
    return a.measured - a.baseline > b.measured - b.baseline;
  });
}

}  // namespace

Tolerance parse_tolerance(std::string_view text, std::string_view what) {
  Tolerance tolerance;
  const std::string given = fmt::format("{} {}", what, text);
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
    throw Error(ErrorKind::bad_usage,
                fmt::format("{}: bytes are whole. Write a percentage such as {}%, or a size such as 1536KiB",
                            given, number));
  }
  if (unit.empty())
    throw Error(ErrorKind::bad_usage, fmt::format("{0}: of what? Write {1}B or {1}%", given, number));
  return tolerance;
}

uint64_t allowed_bytes(uint64_t baseline, const Tolerance& tolerance) {
  Wide more = Wide{baseline} * tolerance.numerator / tolerance.denominator + tolerance.bytes;
  Wide allowed = Wide{baseline} + more;
  return allowed > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(allowed);
}

std::string name_of(const GateSubject& subject) {
  const std::string metric(name_of(subject.metric));
  if (subject.scope == GateSubject::Scope::run) return "peak " + metric;
  if (subject.scope == GateSubject::Scope::phase) return metric + " in " + subject.name;
  return subject.name + " at the peak";
}

std::vector<GateCheck> check_gate(const std::vector<GateSubject>& subjects, const GateNumbers& numbers,
                                  const GateNumbers* baseline, const Tolerance& tolerance,
                                  std::optional<uint64_t> budget) {
  std::vector<GateCheck> checks;
  for (const GateSubject& subject : subjects) {
    std::optional<uint64_t> measured = measured_of(subject, numbers);
    if (!measured) refuse_subject(subject, numbers);
    if (baseline) {
      std::optional<uint64_t> before = measured_of(subject, *baseline);
      if (!before)
        throw Error(ErrorKind::bad_input,
                    fmt::format("the baseline has no {}; make it anew with --update", name_of(subject)));
      checks.push_back(
          {name_of(subject), *measured, before, allowed_bytes(*before, tolerance), subject.metric});
    }
    if (budget) checks.push_back({name_of(subject), *measured, std::nullopt, *budget, subject.metric});
  }
  return checks;
}

std::vector<GateGrowth> find_gate_growth(const GateNumbers& numbers, const GateNumbers& baseline) {
  std::vector<GateGrowth> growth;
  add_growth(baseline.categories, numbers.categories, "", growth);
  add_growth(baseline.modules, numbers.modules, "module ", growth);
  sort_growth(growth);
  return growth;
}

std::vector<GateGrowth> find_reserved_growth(const GateNumbers& numbers, const GateNumbers& baseline) {
  std::vector<GateGrowth> growth;
  add_growth(baseline.pools, numbers.pools, "segments of the ", growth);
  add_growth(baseline.uses, numbers.uses, "", growth);
  sort_growth(growth);
  return growth;
}

}  // namespace torchmem
