#include "engine/request.h"

#include "engine/failure.h"

namespace torchmem::engine {
namespace {

using nlohmann::json;

/// Sets `target` from the field if it is there and not null.
template <class T>
void read(const json& object, const char* name, T& target) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return;
  try {
    found->get_to(target);
  } catch (const json::exception&) {
    throw Failure(FailureKind::kBadUsage, std::string("The engine's request has \"") + name +
                                              "\": " + found->dump() +
                                              ", which is not of the type that this field has.");
  }
}

template <class T>
void read(const json& object, const char* name, std::optional<T>& target) {
  T value{};
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return;
  read(object, name, value);
  target = std::move(value);
}

Mode parse_mode(const std::string& word) {
  if (word == "train") return Mode::kTrain;
  if (word == "inference") return Mode::kInference;
  if (word == "grad-forward") return Mode::kGradForward;
  throw Failure(FailureKind::kBadUsage,
                "Unknown mode \"" + word + "\": expected train, inference or grad-forward.");
}

capture::Recording parse_recording(const std::string& word) {
  if (word == "owners") return capture::Recording::owners;
  if (word == "events") return capture::Recording::events;
  if (word == "off") return capture::Recording::off;
  throw Failure(FailureKind::kBadUsage,
                "Unknown recording \"" + word + "\": expected owners, events or off.");
}

Arguments parse_arguments(const json& object) {
  Arguments arguments;
  read(object, "positional", arguments.positional);
  read(object, "named", arguments.named);
  return arguments;
}

}  // namespace

Request parse_request(const json& object) {
  if (!object.is_object())
    throw Failure(FailureKind::kBadUsage, "The engine's request is not a JSON object.");
  Request request;
  read(object, "command", request.command);
  read(object, "model", request.model);
  read(object, "method", request.method);
  read(object, "libraries", request.libraries);
  read(object, "stream", request.stream);
  read(object, "snapshots", request.snapshots);
  if (const auto device = object.find("device"); device != object.end()) {
    read(*device, "kind", request.device_kind);
    read(*device, "index", request.device_index);
  }
  if (const auto inputs = object.find("inputs"); inputs != object.end())
    request.inputs = parse_arguments(*inputs);
  if (const auto in_turn = object.find("inputs_in_turn"); in_turn != object.end()) {
    for (const json& inputs : *in_turn) request.inputs_in_turn.push_back(parse_arguments(inputs));
  }
  std::string mode = "train";
  read(object, "mode", mode);
  request.mode = parse_mode(mode);
  read(object, "inference_mode", request.inference_mode);
  read(object, "optimizer", request.optimizer);
  read(object, "optimizer_form", request.optimizer_form);
  read(object, "loss", request.loss);
  read(object, "loss_on", request.loss_on);
  read(object, "steps", request.steps);
  read(object, "accumulate", request.accumulate);
  read(object, "autocast", request.autocast);
  read(object, "dtype", request.dtype);
  read(object, "channels_last", request.channels_last);
  read(object, "checkpoint", request.checkpoint);
  read(object, "inplace", request.inplace);
  read(object, "keep_outputs", request.keep_outputs);
  read(object, "keep_grads", request.keep_grads);
  read(object, "empty_cache", request.empty_cache);
  read(object, "jit", request.jit);
  std::string recording = "owners";
  read(object, "recording", recording);
  request.recording = parse_recording(recording);
  read(object, "recording_in_turns", request.recording_in_turns);
  read(object, "actions", request.actions);
  read(object, "alloc_conf", request.alloc_conf);
  read(object, "limit_bytes", request.limit_bytes);
  std::string log_level;
  read(object, "log_level", log_level);
  request.debug = log_level == "debug" || log_level == "trace";
  for (const auto& [name, value] :
       {std::pair{"command", request.command}, {"model", request.model}, {"stream", request.stream}}) {
    if (value.empty())
      throw Failure(FailureKind::kBadUsage, std::string("The engine's request has no \"") + name + "\".");
  }
  if (request.dtype && *request.dtype != "f32" && *request.dtype != "f16" && *request.dtype != "bf16") {
    throw Failure(FailureKind::kBadUsage,
                  "Unknown dtype \"" + *request.dtype + "\" for the model: expected f32, f16 or bf16.");
  }
  if (request.inference_mode && request.mode != Mode::kInference)
    throw Failure(FailureKind::kBadUsage, "\"inference_mode\" goes with the mode inference only.");
  if (request.steps < 1 || request.accumulate < 1) {
    throw Failure(FailureKind::kBadUsage,
                  "The number of steps and of accumulated micro-batches must be at least 1.");
  }
  return request;
}

}  // namespace torchmem::engine
