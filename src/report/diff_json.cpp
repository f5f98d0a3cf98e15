#include "torchmem/diff.h"
#include "torchmem/report.h"

namespace torchmem {

using nlohmann::json;

namespace {

json change_json(const Change& change) {
  return {{"name", change.name},
          {"before_bytes", change.before},
          {"after_bytes", change.after},
          {"change_bytes", change.bytes()}};
}

json part_json(const PartDiff& part, bool is_owners) {
  json changes = json::array();
  for (const Change& change : part.changes) changes.push_back(change_json(change));
  json object = {{"changes", std::move(changes)}};
  if (is_owners) return object;
  object["only_before"] = part.only_before;
  object["only_after"] = part.only_after;
  return object;
}

// Parts that both have, and of the others who has them.
void add_parts(json& object, const DeviceDiff& diff) {
  object["same"] = diff.is_empty();
  object["not_compared"] = json::array();
  for (size_t i = 0; i < diff_part_count; ++i) {
    const PartDiff& part = diff.parts[i];
    if (part.compared()) {
      object[diff_parts[i].name] = part_json(part, diff_parts[i].is_owners);
    } else {
      object["not_compared"].push_back(
          {{"part", diff_parts[i].name}, {"in_before", part.in_before}, {"in_after", part.in_after}});
    }
  }
}

}  // namespace

json diff_json(const Diff& diff) {
  json result = {{"schema", "torchmem.diff/1"},
                 {"torchmem", TORCHMEM_VERSION},
                 {"before", {{"file", diff.file_before}, {"kind", diff.kind_before}}},
                 {"after", {{"file", diff.file_after}, {"kind", diff.kind_after}}}};
  if (!diff.of_several) {
    add_parts(result, diff.devices.front());
    return result;
  }
  result["same"] = diff.is_empty();
  json devices = json::array();
  for (const DeviceDiff& device : diff.devices) {
    json object = {{"device", device.device}};
    add_parts(object, device);
    devices.push_back(std::move(object));
  }
  result["devices"] = std::move(devices);
  result["devices_only_before"] = diff.only_before;
  result["devices_only_after"] = diff.only_after;
  return result;
}

}  // namespace torchmem
