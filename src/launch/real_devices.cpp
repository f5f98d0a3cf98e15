#include "launch/real_devices.h"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace torchmem {

namespace {

// The CUDA driver API's documented signatures; 0 is CUDA_SUCCESS.
using Init = int (*)(unsigned);
using GetCount = int (*)(int*);
using Get = int (*)(int*, int);
using GetName = int (*)(char*, int, int);
using TotalMem = int (*)(size_t*, int);

// One line a device, "<bytes> <name>"; or "! <why there is none>".
std::string ask_driver() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return "! no NVIDIA driver is installed (libcuda.so.1 was not found)\n";
  auto init = reinterpret_cast<Init>(dlsym(driver, "cuInit"));
  auto get_count = reinterpret_cast<GetCount>(dlsym(driver, "cuDeviceGetCount"));
  auto get = reinterpret_cast<Get>(dlsym(driver, "cuDeviceGet"));
  auto get_name = reinterpret_cast<GetName>(dlsym(driver, "cuDeviceGetName"));
  auto total_mem = reinterpret_cast<TotalMem>(dlsym(driver, "cuDeviceTotalMem_v2"));
  if (!init || !get_count || !get || !get_name || !total_mem)
    return "! libcuda.so.1 is not an NVIDIA driver\n";
  if (int status = init(0); status != 0) {
    return fmt::format("! the NVIDIA driver does not start (cuInit returns {})\n", status);
  }
  int count = 0;
  if (get_count(&count) != 0 || count == 0) return "! the NVIDIA driver sees no GPU\n";
  std::string lines;
  for (int index = 0; index < count; ++index) {
    int device = 0;
    char name[256] = {};
    size_t bytes = 0;
    if (get(&device, index) != 0 || get_name(name, sizeof name - 1, device) != 0 ||
        total_mem(&bytes, device) != 0) {
      return fmt::format("! the NVIDIA driver does not describe GPU {}\n", index);
    }
    lines += fmt::format("{} {}\n", bytes, name);
  }
  return lines;
}

}  // namespace

RealDevices find_real_devices() {
  RealDevices result;
  int ends[2];
  if (pipe(ends) != 0) {
    result.why_none = "the search for GPUs could not start";
    return result;
  }
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string lines = ask_driver();
    ssize_t written = write(ends[1], lines.data(), lines.size());
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string lines;
  char buffer[4096];
  for (ssize_t count; child > 0 && (count = read(ends[0], buffer, sizeof buffer)) > 0;) {
    lines.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);

  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("! ")) {
      result.why_none = line.substr(2);
      continue;
    }
    size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    result.devices.push_back({line.substr(blank + 1), std::strtoull(line.c_str(), nullptr, 10)});
  }
  if (result.devices.empty() && result.why_none.empty())
    result.why_none = "the NVIDIA driver crashed when asked";
  return result;
}

}  // namespace torchmem
