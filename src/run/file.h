// Whole files in and out.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace torchmem {

// A file mapped into memory, read-only. Throws std::system_error when it cannot be opened or mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view text() const { return {data_, size_}; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// Writes `text` beside `path` and renames it there, so that `path` never holds half a file. Throws
// std::system_error (also when the disk is full); the file beside it is then gone.
void write_file_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace torchmem
