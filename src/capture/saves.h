#pragma once

#include <cstdint>
#include <string>

namespace torchmem::capture {

// What the program is writing to a file as it copies what lies at that device address to the host:
// "torch.save writes a state_dict of 62 tensors ..." (saves.py); "" where nothing is known to write one.
std::string what_it_saves(std::uint64_t address);

}  // namespace torchmem::capture
