#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "vgpu/workspaces/facts.h"

namespace torchmem::vgpu {

// Facts as the repository keeps them (docs/facts/cudnn.md), read for the index and for tests.
struct FactsText {
  std::string gpu;
  uint32_t cudnn_version = 0;
  std::vector<ConvolutionFact> convolutions;  // in the file's order
  std::vector<NamedFact> named;
};

// Throws std::runtime_error naming the line that could not be read and what was expected there.
FactsText read_facts_text(std::istream& text);

}  // namespace torchmem::vgpu
