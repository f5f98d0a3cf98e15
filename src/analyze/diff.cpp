#include "torchmem/diff.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace torchmem {

const DiffPart diff_parts[diff_part_count] = {
    {"peak", "peak", false},
    {"phases_peak_allocated", "peak of allocated within each phase", false},
    {"phases_allocated", "allocated at each phase's end", false},
    {"phases_peak_reserved", "peak of reserved within each phase", false},
    {"categories", "categories at the peak of allocated", true},
    {"modules", "modules (their own bytes) at the peak of allocated", true},
    {"ops", "ops at the peak of allocated", true},
    {"lines", "lines at the peak of allocated", true},
};

namespace {

using Amounts = std::map<std::string, uint64_t>;

std::vector<std::string> names_only_in(const Amounts& here, const Amounts& there) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : here) {
    if (!there.contains(name)) names.push_back(name);
  }
  return names;
}

std::vector<Change> changes_between(const Amounts& before, const Amounts& after, bool is_owners) {
  std::set<std::string> names;
  for (const Amounts* amounts : {&before, &after}) {
    for (const auto& [name, bytes] : *amounts) names.insert(name);
  }
  std::vector<Change> changes;
  for (const std::string& name : names) {
    auto was = before.find(name);
    auto is = after.find(name);
    if (!is_owners && (was == before.end() || is == after.end())) continue;
    Change change{name, was == before.end() ? 0 : was->second, is == after.end() ? 0 : is->second};
    if (change.bytes() != 0) changes.push_back(change);
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::llabs(a.bytes()) > std::llabs(b.bytes());
  });
  return changes;
}

}  // namespace

Diff compare(const Account& before, const Account& after) {
  Diff diff{before.file, before.kind, after.file, after.kind, {}};
  for (size_t i = 0; i < diff_part_count; ++i) {
    PartDiff& part = diff.parts[i];
    part.in_before = before.parts[i].has_value();
    part.in_after = after.parts[i].has_value();
    if (!part.compared()) continue;
    part.changes = changes_between(*before.parts[i], *after.parts[i], diff_parts[i].is_owners);
    if (diff_parts[i].is_owners) continue;
    part.only_before = names_only_in(*before.parts[i], *after.parts[i]);
    part.only_after = names_only_in(*after.parts[i], *before.parts[i]);
  }
  return diff;
}

bool Diff::is_empty() const {
  return std::all_of(std::begin(parts), std::end(parts), [](const PartDiff& part) {
    return part.changes.empty() && part.only_before.empty() && part.only_after.empty();
  });
}

}  // namespace torchmem
