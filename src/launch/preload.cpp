#include "launch/preload.h"

#include <spdlog/spdlog.h>

#include "text/words.h"

namespace torchmem {

namespace fs = std::filesystem;

PreloadList::PreloadList(const std::vector<fs::path>& libraries) {
  for (const fs::path& library : libraries) {
    std::string path = fs::absolute(library).string();
    if (path.find_first_of(" :;\t\n$") == std::string::npos) {
      paths_.push_back(std::move(path));
      continue;
    }
    if (!links_) links_ = std::make_unique<TemporaryDirectory>(/*plain_name=*/true);
    // The folder, not the file: a library finds its data beside itself.
    fs::path folder = fs::path(path).parent_path();
    auto [known, is_new] = linked_.try_emplace(folder, links_->path() / std::to_string(linked_.size()));
    if (is_new) {
      fs::create_directory_symlink(folder, known->second);
      spdlog::debug("LD_PRELOAD takes no such path as {}: linked as {}", folder.string(),
                    known->second.string());
    }
    paths_.push_back((known->second / library.filename()).string());
  }
}

std::string PreloadList::value(const char* inherited) const {
  std::vector<std::string> paths = paths_;
  if (inherited && *inherited) paths.push_back(inherited);
  return joined(paths, ":");
}

}  // namespace torchmem
