// The table of contents at the end of a zip file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchmem {

struct ZipEntry {
  std::string name;
  uint64_t offset = 0;  // of its local header
  uint64_t size = 0;    // of its data as stored
  bool stored = false;  // not compressed
};

// The entries of the zip file whose bytes these are, sizes beyond 4 GiB included (zip64); nothing when it has
// no table of contents, as when it was cut short, or a damaged one.
std::optional<std::vector<ZipEntry>> read_zip_directory(std::string_view bytes);

// The data of an entry that is not compressed; nothing when it is, or lies outside the file.
std::optional<std::string_view> stored_data(std::string_view bytes, const ZipEntry& entry);

}  // namespace torchmem
