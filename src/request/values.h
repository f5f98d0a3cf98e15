// What a run is asked about the values that a kernel would have computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torchmem {

// What reads at a place are taken for: pairs of place and values (request/assume_file.h).
using AssumedValues = std::vector<std::pair<std::string, std::string>>;

struct ValueSettings {
  std::optional<std::string> values;  // "none" or "all"; nothing is "small"
  std::optional<AssumedValues> assume;
  std::optional<uint64_t> max_assumed_reads;
};

// What engine and agent find in their environment: TORCHMEM_VALUES, TORCHMEM_ASSUME,
// TORCHMEM_MAX_ASSUMED_READS. An empty one is to be removed, so that this process's own has no say.
std::vector<std::pair<std::string, std::string>> value_environment(const ValueSettings& settings);

}  // namespace torchmem
