#include "cli/preload.h"

namespace torchmem::cli {

namespace fs = std::filesystem;

PreloadList::PreloadList(const std::vector<fs::path>& libraries) {
  for (const fs::path& library : libraries) {
    std::string path = fs::absolute(library).string();
    if (path.find_first_of(" :;\t\n$") == std::string::npos) {
      paths_.push_back(std::move(path));
      continue;
    }
    if (!links_) links_ = std::make_unique<TemporaryDirectory>(/*plain_name=*/true);
    fs::path link = links_->path() / library.filename();
    fs::create_symlink(path, link);
    paths_.push_back(link.string());
  }
}

std::string PreloadList::value(const char* inherited) const {
  std::string result;
  for (const std::string& path : paths_) {
    if (!result.empty()) result += ':';
    result += path;
  }
  if (inherited && *inherited) result += std::string(result.empty() ? "" : ":") + inherited;
  return result;
}

}  // namespace torchmem::cli
