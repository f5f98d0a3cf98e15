#include "torchmem/diff.h"

#include <spdlog/fmt/ranges.h>

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

DeviceDiff device_diff(int32_t number, const DeviceAccount& before, const DeviceAccount& after) {
  DeviceDiff diff;
  diff.device = number;
  for (size_t i = 0; i < diff_part_count; ++i) {
    PartDiff& part = diff.parts[i];
    part.in_before = before[i].has_value();
    part.in_after = after[i].has_value();
    if (!part.compared()) continue;
    part.changes = changes_between(*before[i], *after[i], diff_parts[i].is_owners);
    if (diff_parts[i].is_owners) continue;
    part.only_before = names_only_in(*before[i], *after[i]);
    part.only_after = names_only_in(*after[i], *before[i]);
  }
  return diff;
}

const DeviceAccount& device_of(const Account& account, int32_t device) {
  auto found = account.devices.find(device);
  if (found != account.devices.end()) return found->second;
  std::vector<int32_t> known;
  for (const auto& [number, of] : account.devices) known.push_back(number);
  throw Error(ErrorKind::bad_usage,
              fmt::format("--device {}: {} says nothing of that device. Expected one that both "
                          "files have; this one has {}.",
                          device, account.file, fmt::join(known, ", ")));
}

}  // namespace

Diff compare(const Account& before, const Account& after, std::optional<int32_t> device) {
  Diff diff;
  diff.file_before = before.file;
  diff.kind_before = before.kind;
  diff.file_after = after.file;
  diff.kind_after = after.kind;
  diff.of_several = before.devices.size() > 1 || after.devices.size() > 1;
  if (device) {
    diff.devices.push_back(device_diff(*device, device_of(before, *device), device_of(after, *device)));
    return diff;
  }
  if (!diff.of_several) {
    const auto& [number, account] = *before.devices.begin();
    diff.devices.push_back(device_diff(number, account, after.devices.begin()->second));
    return diff;
  }
  for (const auto& [number, account] : before.devices) {
    auto other = after.devices.find(number);
    if (other == after.devices.end()) {
      diff.only_before.push_back(number);
    } else {
      diff.devices.push_back(device_diff(number, account, other->second));
    }
  }
  for (const auto& [number, account] : after.devices) {
    if (!before.devices.contains(number)) diff.only_after.push_back(number);
  }
  return diff;
}

bool DeviceDiff::is_empty() const {
  return std::all_of(std::begin(parts), std::end(parts), [](const PartDiff& part) {
    return part.changes.empty() && part.only_before.empty() && part.only_after.empty();
  });
}

bool Diff::is_empty() const {
  return only_before.empty() && only_after.empty() &&
         std::all_of(devices.begin(), devices.end(),
                     [](const DeviceDiff& device) { return device.is_empty(); });
}

}  // namespace torchmem
