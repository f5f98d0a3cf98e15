#include "request/values.h"

#include <nlohmann/json.hpp>

namespace torchmem {

std::vector<std::pair<std::string, std::string>> value_environment(const ValueSettings& settings) {
  return {{"TORCHMEM_VALUES", settings.values.value_or("small")},
          {"TORCHMEM_ASSUME", settings.assume ? nlohmann::json(*settings.assume).dump() : ""},
          {"TORCHMEM_MAX_ASSUMED_READS",
           settings.max_assumed_reads ? std::to_string(*settings.max_assumed_reads) : ""}};
}

}  // namespace torchmem
