// Parts of reports on several runs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "torchmem/run_result.h"

namespace torchmem {

// "resnet50.pt on virtual:h200 (NVIDIA H200), torch 2.11.0, CUDA 13.0": of one run's info.
std::string where_text(const Run& run);

// "resnet50.pt, torch 2.11.0, CUDA 13.0": the same without the device.
std::string model_and_software(const Run& run);

// "out of memory in forward of iteration 0: CUDA out of memory. Tried ...", or another error with its phase;
// the first sentence of the message. Empty without an error.
std::string error_text(const Run& run);

// {"allocated_bytes", "reserved_bytes", "device_bytes", "phase", "iteration", "by_category"}: what is known
// of it.
nlohmann::json peak_summary_json(const RunResult& outcome);

// What `to` has more than `from`: "+1.23 MiB", "-1.23 MiB", "0 B" when equal.
std::string signed_bytes(uint64_t from, uint64_t to);

}  // namespace torchmem
