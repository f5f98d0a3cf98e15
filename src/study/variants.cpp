#include "study/variants.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "study/refuse.h"
#include "text/words.h"
#include "torchmem/error.h"

namespace torchmem {

namespace {

// Without blanks around it: "a + b" is what advise prints.
std::string trimmed(const std::string& text) {
  size_t start = text.find_first_not_of(' ');
  return start == std::string::npos ? "" : text.substr(start, text.find_last_not_of(' ') + 1 - start);
}

// Two parts that cannot both be.
void check_together(const std::vector<std::string>& parts) {
  auto given = [&](const char* name) { return std::find(parts.begin(), parts.end(), name) != parts.end(); };
  const char* mode = nullptr;
  for (const char* name : {"no_grad", "inference_mode", "grad", "train"}) {
    if (!given(name)) continue;
    if (mode) refuse(fmt::format("'{}' and '{}' are two modes; one run has one", mode, name));
    mode = name;
  }
  if (mode && std::string(mode) != "train" && given("optimizer"))
    refuse(fmt::format("'optimizer' is for training, and '{}' trains nothing", mode));
}

// "mode=NAME", or the name alone where it takes no value.
std::string with_value(const char* name, const char* value) {
  return fmt::format("{}{}{}", name, *value ? "=" : "", value);
}

std::string names_of_variants() {
  std::vector<std::string> names;
  for (const Variant& entry : variant_table()) names.push_back(with_value(entry.name, entry.value));
  return joined(names);
}

void apply_part(Job& job, const std::string& part) {
  size_t equals = part.find('=');
  std::string name = part.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
  for (const Variant& entry : variant_table()) {
    if (name != entry.name) continue;
    bool takes = *entry.value != '\0';
    if (takes && value.empty()) refuse(fmt::format("'{0}' needs a value, {0}={1}", name, entry.value));
    if (!takes && equals != std::string::npos) refuse(fmt::format("'{}' takes no value", name));
    entry.apply(job, value);
    return;
  }
  refuse(fmt::format("there is no '{}'. Variants: {}", name, names_of_variants()));
}

}  // namespace

void apply_variant(Job& job, std::string_view variant) {
  std::string text(variant);
  std::vector<std::string> seen;
  try {
    for (size_t start = 0; start <= text.size();) {
      size_t end = std::min(text.find('+', start), text.size());
      std::string part = trimmed(text.substr(start, end - start));
      if (part.empty()) refuse("there is nothing to change");
      std::string name = part.substr(0, part.find('='));
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) refuse("'" + name + "' is given twice");
      seen.push_back(name);
      apply_part(job, part);
      start = end + 1;
    }
    check_together(seen);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("--variant {}: {}", text, error.what()));
  }
  job.name = text;
}

std::string variant_help() {
  std::string text;
  for (const Variant& entry : variant_table()) {
    text += fmt::format("  {:<35} {}\n", with_value(entry.name, entry.value), entry.help);
  }
  return text;
}

const std::vector<Lever>& lever_table() {
  static const std::vector<Lever> table = [] {
    std::vector<Lever> levers;
    for (const Variant& variant : variant_table()) {
      for (const LeverFacts& facts : variant.levers)
        levers.push_back({with_value(variant.name, facts.value), facts});
    }
    std::stable_sort(levers.begin(), levers.end(),
                     [](const Lever& a, const Lever& b) { return a.facts.price < b.facts.price; });
    return levers;
  }();
  return table;
}

}  // namespace torchmem
