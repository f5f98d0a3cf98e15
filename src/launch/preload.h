// The LD_PRELOAD that puts the virtual GPU, or anything else, into a program.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "launch/temporary_directory.h"

namespace torchmem {

// The loader splits LD_PRELOAD at blanks and colons and expands `$`: libraries whose path has one of those
// are reached through links in a private folder, which lives as long as this object.
class PreloadList {
 public:
  explicit PreloadList(const std::vector<std::filesystem::path>& libraries);
  // The variable's value: the libraries in order, then what `inherited` has.
  std::string value(const char* inherited) const;
  // The same one by one.
  const std::vector<std::string>& paths() const { return paths_; }

 private:
  std::unique_ptr<TemporaryDirectory> links_;
  std::map<std::filesystem::path, std::filesystem::path> linked_;  // a folder and its link
  std::vector<std::string> paths_;
};

}  // namespace torchmem
