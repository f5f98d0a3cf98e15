#include "launch/program_run.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <system_error>

#include "launch/device_profile.h"
#include "launch/layout.h"
#include "launch/preload.h"
#include "launch/program_torch.h"
#include "launch/real_devices.h"
#include "request/values.h"
#include "run/process_state.h"
#include "torchmem/error.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr int signal_base = 128;  // a shell's code for death by a signal

std::string torch_text(const ProgramTorch& torch) {
  return fmt::format("torch {}{} in {}", torch.version.empty() ? "of an unknown version" : torch.version,
                     torch.cuda.empty() ? ", built without CUDA," : "", torch.path);
}

// Whether the program will use the PyTorch that the virtual GPU and the agent fit.
void check_torch(const std::vector<std::string>& program) {
  std::optional<Interpreter> interpreter = find_interpreter(program);
  if (!interpreter) return;
  std::optional<ProgramTorch> torch = find_torch(*interpreter);
  spdlog::debug("the program's Python: {}{}; {}", interpreter->path,
                interpreter->is_certain ? "" : " (assumed: the program is none)",
                torch ? torch_text(*torch) : "it has no torch");
  if (!torch) return;  // not there: the program will say so itself, if it wants it
  const std::string version = built_torch_version();
  if (torch->version == version) return;
  const std::string message = fmt::format("{} imports {}; this build of torchmem fits torch {}",
                                          interpreter->path, torch_text(*torch), version);
  if (interpreter->is_certain) {
    throw Error(ErrorKind::unavailable, message + ".\nRun the program with a Python that has torch " +
                                            version + ", or build torchmem against its torch.");
  }
  std::cerr << "torchmem: " << message << ". If the program uses that one, its memory is not measured.\n";
}

// The variables that PyTorch takes its allocator's settings from.
constexpr const char* setting_variables[] = {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};

// The virtual GPU has no allocator of the driver's. A program that sets it by itself is refused by PyTorch.
void check_backend() {
  for (const char* name : setting_variables) {
    const char* value = std::getenv(name);
    std::string text = value ? value : "";
    std::erase(text, ' ');
    if (text.find("backend:cudaMallocAsync") == std::string::npos) continue;
    throw Error(ErrorKind::bad_usage,
                std::string(name) + "=" + value +
                    ": the allocator cudaMallocAsync lies in the CUDA driver, which the virtual GPU does not "
                    "have; leave it out, use backend:native, or run the program on a real GPU");
  }
}

// Of the device; of several real ones the largest, so that none may reserve more than is asked for.
uint64_t total_bytes(const DeviceChoice& device) {
  if (device.kind == DeviceChoice::Kind::virtual_gpu)
    return read_device_profile(device.profile_file.string()).at("total_bytes").get<uint64_t>();
  uint64_t most = 0;
  for (const RealDevice& real : find_real_devices().devices) most = std::max(most, real.total_bytes);
  return most;
}

// The settings that the environment has, with the fraction of the device's memory that is the limit. PyTorch
// cuts the product to whole bytes: half a byte more keeps it from being one too few.
std::pair<std::string, std::string> limit_setting(uint64_t limit, const DeviceChoice& device) {
  const double fraction = (static_cast<double>(limit) + 0.5) / static_cast<double>(total_bytes(device));
  const bool has_own = std::getenv(setting_variables[1]) != nullptr;  // PyTorch then reads no other
  const char* name = setting_variables[has_own ? 1 : 0];
  const char* value = std::getenv(name);
  std::string settings = value ? value : "";
  if (!settings.empty() && !settings.ends_with(',')) settings += ',';
  return {name, fmt::format("{}per_process_memory_fraction:{:.17f}", settings, std::min(1.0, fraction))};
}

// The file in which processes say that there is no room for their own. Where there is none for this one
// either, nothing would be known of the program.
void make_room(const std::filesystem::path& directory) {
  const std::string path = (directory / "no-room").string();
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : posix_fallocate(file, 0, sizeof(torchmem_no_room));
  if (file >= 0) close(file);
  if (error == 0) return;
  throw Error(ErrorKind::unavailable, "cannot write " + path +
                                          ", where the program's processes tell what they used: " +
                                          std::strerror(error) + " (set TMPDIR to use another place)");
}

}  // namespace

ProgramRun::ProgramRun(const std::vector<std::string>& program, const DeviceChoice& device,
                       const ProgramOptions& options)
    : is_virtual_(device.kind == DeviceChoice::Kind::virtual_gpu) {
  if (find_in_path(program[0]).empty()) {
    throw Error(ErrorKind::bad_usage, "cannot start '" + program[0] + "': there is no such program" +
                                          (program[0].find('/') == std::string::npos ? " in PATH" : ""));
  }
  if (options.devices > 0 && !is_virtual_) {
    throw Error(ErrorKind::bad_usage, "--devices is for virtual devices; real ones cannot be added");
  }
  if (is_virtual_) check_backend();
  check_torch(program);
  make_room(state_.path());
  std::vector<std::pair<std::string, std::string>> changes = value_environment(options.values);
  changes.emplace_back("TORCHMEM_RUN_DIR", state_.path().string());
  changes.emplace_back("TORCHMEM_AGENT", agent_path().string());
  if (options.limit_bytes) changes.push_back(limit_setting(*options.limit_bytes, device));
  std::vector<std::filesystem::path> preloaded;
  if (is_virtual_) {
    preloaded = virtual_gpu_libraries();
    changes.emplace_back("TORCHMEM_VGPU_PROFILE", device.profile_file.string());
    if (options.devices > 0) changes.emplace_back("TORCHMEM_VGPU_DEVICES", std::to_string(options.devices));
  } else {
    preloaded = {join_path()};
    if (options.number_given) changes.emplace_back("CUDA_VISIBLE_DEVICES", std::to_string(device.index));
  }
  if (options.records) {
    preloaded.insert(preloaded.begin(), workspace_hook_path());
    changes.emplace_back("TORCHMEM_RECORD", "1");
  }
  PreloadList libraries(preloaded);
  changes.emplace_back("LD_PRELOAD", libraries.value(std::getenv("LD_PRELOAD")));
  ChildOptions child;
  child.arguments = program;
  child.environment = environment_with(changes);
  for (const auto& [name, value] : changes) spdlog::debug("the program's environment: {}={}", name, value);
  try {
    result_ = run_child(child);
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::unavailable, std::string("cannot ") + error.what());
  }
}

int ProgramRun::exit_code() const {
  return WIFSIGNALED(result_.status) ? signal_base + WTERMSIG(result_.status) : WEXITSTATUS(result_.status);
}

json ProgramRun::end() const {
  if (WIFSIGNALED(result_.status)) return {{"signal", WTERMSIG(result_.status)}};
  return {{"exit_code", WEXITSTATUS(result_.status)}};
}

}  // namespace torchmem
