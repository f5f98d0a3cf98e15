#include "study/variants.h"

#include <algorithm>

#include "study/refuse.h"
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
    if (mode) refuse(std::string("'") + mode + "' and '" + name + "' are two modes; one run has one");
    mode = name;
  }
  if (mode && std::string(mode) != "train" && given("optimizer"))
    refuse(std::string("'optimizer' is for training, and '") + mode + "' trains nothing");
}

std::string names_of_variants() {
  std::string names;
  for (const Variant& entry : variant_table()) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
    if (*entry.value) names += "=" + std::string(entry.value);
  }
  return names;
}

void apply_part(Job& job, const std::string& part) {
  size_t equals = part.find('=');
  std::string name = part.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
  for (const Variant& entry : variant_table()) {
    if (name != entry.name) continue;
    bool takes = *entry.value != '\0';
    if (takes && value.empty()) refuse("'" + name + "' needs a value, " + name + "=" + entry.value);
    if (!takes && equals != std::string::npos) refuse("'" + name + "' takes no value");
    entry.apply(job, value);
    return;
  }
  refuse("there is no '" + name + "'. Variants: " + names_of_variants());
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
    throw Error(error.kind(), "--variant " + text + ": " + error.what());
  }
  job.name = text;
}

std::string variant_help() {
  constexpr size_t name_width = 36;
  std::string text;
  for (const Variant& entry : variant_table()) {
    std::string name = entry.name + (*entry.value ? "=" + std::string(entry.value) : std::string());
    name.resize(std::max(name.size() + 1, name_width), ' ');
    text += "  " + name + entry.help + "\n";
  }
  return text;
}

const std::vector<Lever>& lever_table() {
  static const std::vector<Lever> table = [] {
    std::vector<Lever> levers;
    for (const Variant& variant : variant_table()) {
      for (const LeverFacts& facts : variant.levers) {
        std::string name = variant.name;
        if (*facts.value) name += "=" + std::string(facts.value);
        levers.push_back({std::move(name), facts});
      }
    }
    std::stable_sort(levers.begin(), levers.end(),
                     [](const Lever& a, const Lever& b) { return a.facts.price < b.facts.price; });
    return levers;
  }();
  return table;
}

}  // namespace torchmem
