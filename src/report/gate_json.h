// What a gate found, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "report/gate_report.h"

namespace torchmem {

// "torchmem.gate/1" (docs/schema/gate.json).
nlohmann::json gate_json(const GateReport& report);

}  // namespace torchmem
