// Names that reader and writer of run files share.
#pragma once

#include <string_view>

namespace torchmem::run_file {

// Our part of the snapshot's top dict, and the version of its layout: read by this version's readers only.
constexpr std::string_view key = "torchmem";
constexpr std::string_view schema = "torchmem.run/1";

}  // namespace torchmem::run_file
