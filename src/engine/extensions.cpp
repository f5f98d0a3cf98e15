#include <c10/core/CPUAllocator.h>
#include <dlfcn.h>

#include <filesystem>

#include "engine/device.h"
#include "engine/failure.h"

namespace torchmem::engine {
namespace {

bool loaded(const char* name, int flags) { return dlopen(name, flags) != nullptr; }

// "libpython3.11.so.1.0" for a torch package with "_C.cpython-311-x86_64-linux-gnu.so"; empty if the package
// is not complete.
std::string python_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&c10::GetCPUAllocator), &info) == 0 || info.dli_fname == nullptr)
    return "";
  const auto package = std::filesystem::path(info.dli_fname).parent_path().parent_path();
  const std::string prefix = "_C.cpython-3";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(package, error)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(prefix, 0) != 0) continue;
    return "libpython3." + name.substr(prefix.size(), name.find('-', prefix.size()) - prefix.size()) +
           ".so.1.0";
  }
  return "";
}

}  // namespace

void load_libraries(const std::vector<std::string>& libraries) {
  for (const auto& library : libraries) {
    const std::string path = std::filesystem::absolute(library).string();
    if (!std::filesystem::exists(path)) {
      throw Failure(FailureKind::bad_usage, "Cannot load the library " + library + ": no such file.");
    }
    if (loaded(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) continue;
    const char* said = dlerror();
    std::string problem = said == nullptr ? "unknown error" : said;
    const bool wants_python = problem.find("undefined symbol: Py") != std::string::npos ||
                              problem.find("undefined symbol: _Py") != std::string::npos ||
                              problem.find("libtorch_python.so") != std::string::npos;
    if (wants_python) {
      // Its operators need symbols of Python and of PyTorch's Python part; nothing of Python is started.
      const std::string python = python_library();
      if (python.empty() || !loaded(python.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        throw Failure(FailureKind::unavailable,
                      "The library " + library + " is a Python extension and needs " +
                          (python.empty() ? "libpython" : python) +
                          ", which was not found. Install it (Debian and Ubuntu: apt install "
                          "libpython3-dev), or give a library that does "
                          "not need Python.");
      }
      if (loaded("libtorch_python.so", RTLD_NOW | RTLD_GLOBAL) &&
          loaded(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
        continue;
      said = dlerror();
      problem = said == nullptr ? problem : said;
    }
    throw Failure(FailureKind::bad_usage, "Cannot load the library " + library + ": " + problem + ".");
  }
}

}  // namespace torchmem::engine
