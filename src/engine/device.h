#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "request/run_request.h"

namespace torchmem::engine {

// Initialises CUDA on the requested device with the requested allocator settings and limit, and returns the
// device. Throws Failure: unavailable if there is no such device, bad_usage if PyTorch refuses the allocator
// settings.
c10::Device open_device(const RunRequest& request);

// Bounds what the allocator may reserve on the device from now on; none: all that there is.
void limit_allocator(std::optional<std::uint64_t> limit_bytes, c10::DeviceIndex index);

// {"device": {"kind", "index", "name", "total_bytes", "profile" of a virtual one}, "software": {"torch",
// "cuda", "cudnn"}} as the run's facts.
nlohmann::json device_facts(const RunRequest& request, c10::Device device);

// Loads extension libraries with operators, in order. One that needs Python's own library gets it first.
// Throws Failure (bad_usage) naming the library and what the loader said.
void load_libraries(const std::vector<std::string>& libraries);

}  // namespace torchmem::engine
