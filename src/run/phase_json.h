// Phases, errors, tensors and segments to and from JSON, in the words of the event stream. Shared
// by the stream reader and the run file.
#pragma once

#include "torchmem/run.h"

namespace torchmem {

// All of these throw nlohmann::json::exception when a field has the wrong type.
Phase phase_from_json(const nlohmann::json& json);
nlohmann::json phase_to_json(const Phase& phase);

RunError error_from_json(const nlohmann::json& json);
nlohmann::json error_to_json(const RunError& error);

TensorInfo tensor_from_json(const nlohmann::json& json);
nlohmann::json tensor_to_json(const TensorInfo& tensor);

// A segment in the snapshot's own field names; stacks of frames are left out.
Segment segment_from_json(const nlohmann::json& json);

}  // namespace torchmem
