#include "launch/layout.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "torchmem/error.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

fs::path root() {
  std::error_code error;
  fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) throw Error(ErrorKind::unavailable, "cannot find the program's own folder: " + error.message());
  return self.parent_path().parent_path();
}

fs::path require(const fs::path& path, const char* what) {
  std::error_code error;
  if (fs::exists(path, error)) return path;
  throw Error(ErrorKind::unavailable,
              std::string(what) + " is missing: expected " + path.string() +
                  ".\nThis build of torchmem is not complete: build it with scripts/setup, or "
                  "install it as a whole.");
}

}  // namespace

fs::path engine_path() {
  if (const char* given = std::getenv("TORCHMEM_ENGINE"); given && *given) {
    return require(fs::absolute(given), "the engine named by TORCHMEM_ENGINE");
  }
  std::error_code error;
  fs::path in_libexec = root() / "libexec" / "torchmem-engine";
  if (fs::exists(in_libexec, error)) return in_libexec;
  return require(root() / "bin" / "torchmem-engine", "the engine that runs models");
}

fs::path agent_path() {
  return require(root() / "lib/torchmem/libtorchmem_agent.so", "the agent that joins a program");
}

fs::path join_path() {
  return require(root() / "lib/torchmem/libtorchmem_join.so", "what loads the agent on a real GPU");
}

fs::path workspace_hook_path() {
  return require(root() / "lib/torchmem/libtorchmem_workspace_hook.so",
                 "what sees the libraries' workspaces");
}

std::string built_torch_version() {
  std::ifstream in(require(root() / "lib/torchmem/torch.json", "the record of the torch built against"));
  const nlohmann::json record = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  return record.is_object() ? record.value("version", "") : "";
}

fs::path profiles_directory() {
  return require(root() / "share/torchmem/profiles", "the folder of device profiles");
}

std::vector<fs::path> virtual_gpu_libraries() {
  fs::path directory = root() / "lib/torchmem/vgpu";
  std::ifstream list(require(directory / "preload.list", "the list of the virtual GPU's libraries"));
  std::vector<fs::path> libraries;
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) libraries.push_back(require(directory / line, "a library of the virtual GPU"));
  }
  return libraries;
}

}  // namespace torchmem
