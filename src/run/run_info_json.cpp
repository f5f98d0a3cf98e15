#include "run/run_info_json.h"

#include <algorithm>
#include <initializer_list>

namespace torchmem {

using nlohmann::json;

namespace {

using Path = std::initializer_list<const char*>;
using SizesByDimension = std::map<std::string, std::vector<uint64_t>>;

// Calls field(path, member) for each member that is a field of the JSON.
template <typename Info, typename Field>
void each_field(Info& info, const Field& field) {
  field({"model", "path"}, info.model.path);
  field({"model", "parameters", "bytes"}, info.model.parameter_bytes);
  field({"device", "kind"}, info.device.kind);
  field({"device", "index"}, info.device.index);
  field({"device", "name"}, info.device.name);
  field({"device", "profile"}, info.device.profile);
  field({"device", "total_bytes"}, info.device.total_bytes);
  field({"device", "verified"}, info.device.verified);
  field({"device", "workspaces_of"}, info.device.workspaces_of);
  field({"device", "note"}, info.device.note);
  field({"device", "chosen"}, info.device.chosen);
  field({"software", "torch"}, info.software.torch);
  field({"software", "cuda"}, info.software.cuda);
  field({"software", "cudnn"}, info.software.cudnn);
  field({"arguments", "mode"}, info.arguments.mode);
  field({"arguments", "inference_mode"}, info.arguments.inference_mode);
  field({"arguments", "optimizer"}, info.arguments.optimizer);
  field({"arguments", "optimizer_form"}, info.arguments.optimizer_form);
  field({"arguments", "loss"}, info.arguments.loss);
  field({"arguments", "dtype"}, info.arguments.dtype);
  field({"arguments", "autocast"}, info.arguments.autocast);
  field({"arguments", "steps"}, info.arguments.steps);
  field({"arguments", "sizes"}, info.arguments.sizes);
  field({"arguments", "limit_bytes"}, info.arguments.limit_bytes);
  field({"loss_on"}, info.loss_on);
  field({"levers", "checkpoint"}, info.checkpointed);
  field({"levers", "inplace", "rewritten"}, info.made_inplace);
}

// Takes a member from a JSON value of its type; false, and nothing is done, where it is of another or says
// nothing.
bool take(const json& value, std::string& member) {
  if (!value.is_string()) return false;
  member = value.get<std::string>();
  return !member.empty();
}

bool take(const json& value, std::optional<uint64_t>& member) {
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0)) return false;
  member = value.get<uint64_t>();
  return true;
}

bool take(const json& value, std::optional<bool>& member) {
  if (!value.is_boolean()) return false;
  member = value.get<bool>();
  return true;
}

template <typename Item>
bool is_list_of(const json& value, Item is_item) {
  return value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_item);
}

bool take(const json& value, std::vector<std::string>& member) {
  if (!is_list_of(value, [](const json& item) { return item.is_string(); })) return false;
  member = value.get<std::vector<std::string>>();
  return true;
}

bool take(const json& value, SizesByDimension& member) {
  auto is_sizes = [](const json& list) {
    return is_list_of(list, [](const json& item) { return item.is_number_unsigned(); });
  };
  if (!value.is_object() || value.empty() || !std::all_of(value.begin(), value.end(), is_sizes)) return false;
  member = value.get<SizesByDimension>();
  return true;
}

template <typename T>
bool is_said(const std::optional<T>& member) {
  return member.has_value();
}

template <typename T>
bool is_said(const T& member) {
  return !member.empty();
}

template <typename T>
const T& value_of(const std::optional<T>& member) {
  return *member;
}

template <typename T>
const T& value_of(const T& member) {
  return member;
}

}  // namespace

RunInfo info_from_json(json object) {
  RunInfo info;
  each_field(info, [&](Path path, auto& member) {
    json* parent = nullptr;
    json* place = &object;
    for (const char* name : path) {
      parent = place;
      if (!parent->is_object() || !parent->contains(name)) return;
      place = &(*parent)[name];
    }
    if (take(*place, member)) parent->erase(*(path.end() - 1));
  });
  info.rest = std::move(object);
  return info;
}

json info_json(const RunInfo& info) {
  json object = info.rest;
  each_field(info, [&](Path path, const auto& member) {
    if (!is_said(member)) return;
    json* place = &object;
    for (const char* name : path) {
      if (!place->is_object()) *place = json::object();
      place = &(*place)[name];
    }
    *place = value_of(member);
  });
  return object;
}

}  // namespace torchmem
