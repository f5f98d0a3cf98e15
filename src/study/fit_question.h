// What `fit` is asked: which model, which dimension, between which bounds, on which devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/device_choice.h"
#include "request/run_request.h"
#include "torchmem/fit_search.h"

namespace torchmem {

struct FitDevice {
  std::string name;  // as it was asked for, e.g. "virtual:h200"
  DeviceChoice choice;
};

struct FitQuestion {
  RunRequest request;
  std::string dimension;  // the only one of its inputs that has no size
  FitBounds bounds;
  std::vector<FitDevice> devices;  // at least one
  bool allow_assumed = false;      // an answer by assumed values is one
};

// Those of a list (`devices`: "all" profiles, or names with commas between), or the one that `device` says
// where the list is empty. Throws as choose_device does, and Error(bad_usage) for a name that is there twice.
std::vector<FitDevice> fit_devices(const std::string& device, const std::string& devices);

// Throws Error(bad_usage) where no size is within the bounds.
void check_bounds(const FitBounds& bounds);

// The smallest size within the bounds.
uint64_t least_size(const FitBounds& bounds);

// The name of the dimension that varies: `wanted`, or the only one where that is empty. Throws
// Error(bad_usage) where there is none of that name, or another one has no size either.
std::string varied_dimension(const RunRequest& request, const std::string& wanted);

}  // namespace torchmem
