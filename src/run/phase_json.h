// Phases, findings, errors, tensors and segments to and from JSON, in the words of the event stream. Shared
// by the stream reader and the run file.
#pragma once

#include "torchmem/run.h"

namespace torchmem {

// All of these throw nlohmann::json::exception when a field has the wrong type.
Phase phase_from_json(const nlohmann::json& json);
nlohmann::json phase_to_json(const Phase& phase);

RunError error_from_json(const nlohmann::json& json);
nlohmann::json error_to_json(const RunError& error);

// Adds one finding as it happened to the list: alike ones become one. Alike is everything equal but bytes,
// count and address, what it was taken for, of which the first stays, and what it decides, where only one of
// the two says it.
void add_finding(std::vector<Finding>& findings, nlohmann::json json);
nlohmann::json finding_to_json(const Finding& finding);

TensorInfo tensor_from_json(const nlohmann::json& json);
nlohmann::json tensor_to_json(const TensorInfo& tensor);

// A segment in the snapshot's own field names; stacks of frames are left out.
Segment segment_from_json(const nlohmann::json& json);

}  // namespace torchmem
