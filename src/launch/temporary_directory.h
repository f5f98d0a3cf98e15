// A folder of one's own, gone at the end.
#pragma once

#include <filesystem>

namespace torchmem {

class TemporaryDirectory {
 public:
  // Made (mode 0700) in TMPDIR or /tmp; with `plain_name` in /tmp, whose path no list of paths can misread.
  // Throws Error(unavailable) when it cannot.
  explicit TemporaryDirectory(bool plain_name = false);
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace torchmem
