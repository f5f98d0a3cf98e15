#include "run/phase_json.h"

namespace torchmem {

using nlohmann::json;

namespace {

struct UsageField {
  const char* name;
  std::optional<Usage> Phase::*member;
};

constexpr UsageField usage_fields[] = {
    {"allocated_bytes", &Phase::allocated},
    {"reserved_bytes", &Phase::reserved},
    {"active_bytes", &Phase::active},
    {"requested_bytes", &Phase::requested},
    {"inactive_split_bytes", &Phase::inactive_split},
};

template <typename T>
std::optional<T> optional_field(const json& object, const char* name) {
  auto found = object.find(name);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->get<T>();
}

template <typename T>
T field_or(const json& object, const char* name, T otherwise) {
  return optional_field<T>(object, name).value_or(otherwise);
}

Block::State state_from(const std::string& name) {
  if (name == "active_allocated") return Block::State::active_allocated;
  // "active_awaiting_free" is the word of PyTorch's documentation for a block that a stream still uses.
  if (name == "active_pending_free" || name == "active_awaiting_free")
    return Block::State::active_pending_free;
  return Block::State::inactive;
}

}  // namespace

Phase phase_from_json(const json& object) {
  Phase phase;
  phase.name = object.at("phase").get<std::string>();
  phase.iteration = optional_field<int64_t>(object, "iteration");
  phase.micro = optional_field<int64_t>(object, "micro");
  for (const UsageField& field : usage_fields) {
    auto found = object.find(field.name);
    if (found == object.end() || found->is_null()) continue;
    phase.*field.member = Usage{found->at("current").get<uint64_t>(), found->at("peak").get<uint64_t>()};
  }
  phase.duration_ms = optional_field<double>(object, "duration_ms");
  phase.device_bytes = optional_field<uint64_t>(object, "device_bytes");
  if (auto found = object.find("statistics"); found != object.end()) phase.statistics = *found;
  return phase;
}

json phase_to_json(const Phase& phase) {
  json object = {{"phase", phase.name}};
  if (phase.iteration) object["iteration"] = *phase.iteration;
  if (phase.micro) object["micro"] = *phase.micro;
  for (const UsageField& field : usage_fields) {
    const std::optional<Usage>& usage = phase.*field.member;
    if (usage) object[field.name] = {{"current", usage->current}, {"peak", usage->peak}};
  }
  if (phase.device_bytes) object["device_bytes"] = *phase.device_bytes;
  if (phase.duration_ms) object["duration_ms"] = *phase.duration_ms;
  return object;
}

RunError error_from_json(const json& object) {
  RunError error;
  error.kind = error_kind_from(object.at("kind").get<std::string>());
  error.message = object.at("message").get<std::string>();
  error.phase = optional_field<std::string>(object, "phase");
  error.iteration = optional_field<int64_t>(object, "iteration");
  error.remedy =
      remedy_from(optional_field<std::string>(object, "remedy").value_or("")).value_or(Remedy::none);
  error.detail = json::object();
  for (const auto& [name, value] : object.items()) {
    if (name != "kind" && name != "message" && name != "phase" && name != "iteration" && name != "remedy")
      error.detail[name] = value;
  }
  return error;
}

json error_to_json(const RunError& error) {
  json object = error.detail.is_object() ? error.detail : json::object();
  object["kind"] = name_of(error.kind);
  object["message"] = error.message;
  if (error.phase) object["phase"] = *error.phase;
  if (error.iteration) object["iteration"] = *error.iteration;
  return object;
}

TensorInfo tensor_from_json(const json& object) {
  return {object.at("name").get<std::string>(), field_or<std::string>(object, "dtype", ""),
          field_or<std::vector<int64_t>>(object, "shape", {})};
}

json tensor_to_json(const TensorInfo& tensor) {
  return {{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}};
}

Segment segment_from_json(const json& object) {
  Segment segment;
  segment.device = field_or<int32_t>(object, "device", 0);
  segment.address = object.at("address").get<uint64_t>();
  segment.total_size = object.at("total_size").get<uint64_t>();
  segment.allocated_size = field_or<uint64_t>(object, "allocated_size", 0);
  segment.active_size = field_or<uint64_t>(object, "active_size", 0);
  segment.requested_size = field_or<uint64_t>(object, "requested_size", 0);
  segment.stream = field_or<uint64_t>(object, "stream", 0);
  segment.is_large = field_or<std::string>(object, "segment_type", "large") == "large";
  segment.is_expandable = field_or<bool>(object, "is_expandable", false);
  if (auto id = object.find("segment_pool_id"); id != object.end() && id->is_array() && id->size() == 2) {
    segment.pool_id[0] = id->at(0).get<uint64_t>();
    segment.pool_id[1] = id->at(1).get<uint64_t>();
  }
  uint64_t address = segment.address;
  for (const json& item : object.at("blocks")) {
    Block block;
    block.size = item.at("size").get<uint64_t>();
    block.address =
        field_or<uint64_t>(item, "address", address);  // snapshots before PyTorch 2.1 give sizes only
    block.requested_size = field_or<uint64_t>(item, "requested_size", block.size);
    block.state = state_from(item.at("state").get<std::string>());
    address = block.address + block.size;
    segment.blocks.push_back(block);
  }
  return segment;
}

}  // namespace torchmem
