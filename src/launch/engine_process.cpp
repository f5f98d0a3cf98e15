#include "launch/engine_process.h"

#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "launch/device_profile.h"
#include "launch/layout.h"
#include "report/remedy.h"
#include "request/sizes.h"
#include "request/values.h"
#include "run/file.h"
#include "run/run_info_json.h"
#include "torchmem/allocator_state.h"
#include "torchmem/stream.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds grace(5);
constexpr int unwritten = 64;  // an engine's exit code from there on: the stream was not written, and errno

RunError error_of(ErrorKind kind, const std::string& message, const Run& run) {
  RunError error;
  error.kind = kind;
  error.message = message;
  error.detail = json::object();
  if (!run.phases.empty()) error.detail["last_phase"] = run.phases.back().name;
  return error;
}

// What a process that ended without a word of its own died of.
std::optional<RunError> error_of_end(const ChildResult& result, const Run& run,
                                     const std::filesystem::path& stream) {
  if (result.interrupted) return error_of(ErrorKind::interrupted, "interrupted", run);
  std::string where =
      run.phases.empty() ? "before its first phase ended" : "after phase " + run.phases.back().name;
  if (WIFSIGNALED(result.status)) {
    int signal = WTERMSIG(result.status);
    if (signal == SIGINT || signal == SIGTERM) return error_of(ErrorKind::interrupted, "interrupted", run);
    std::string message =
        fmt::format("the engine that ran the model was ended by {} {}.", signal_name(signal), where);
    if (signal == SIGKILL)
      message += " Perhaps this machine ran out of memory (host memory, not the device's).";
    return error_of(ErrorKind::model_failed, message, run);
  }
  if (WEXITSTATUS(result.status) == 0 && run.has_segments) return std::nullopt;
  if (WEXITSTATUS(result.status) == 0 && run.traces.empty() && run.phases.empty() &&
      !info_json(run.info).empty()) {
    return std::nullopt;  // an inspection makes no events
  }
  if (const int error = WEXITSTATUS(result.status) - unwritten; error > 0) {
    return error_of(ErrorKind::unavailable,
                    "the engine could not write what happens to " + stream.string() + ": " +
                        std::strerror(error) + " (set TMPDIR to use another place).",
                    run);
  }
  return error_of(WEXITSTATUS(result.status) == 3 ? ErrorKind::unavailable : ErrorKind::internal,
                  fmt::format("the engine ended with code {} {} without saying why; see its messages above.",
                              WEXITSTATUS(result.status), where),
                  run);
}

// An address space that is the same in every process, so that a profile is the same on every machine; whoever
// wants the process's own, as programs under `run` have it, says so.
std::string address_space() {
  const char* chosen = std::getenv("TORCHMEM_VGPU_SPACE");
  return chosen ? chosen : "model";
}

// The variable counts here as in a program under `run`, where the virtual machine has one device, number 0: a
// run that a scheduler hides the device from is not made.
void check_visible() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!list) return;
  char* end = nullptr;
  if (std::strtol(list, &end, 10) == 0 && end != list) return;
  throw Error(ErrorKind::unavailable, std::string("CUDA_VISIBLE_DEVICES is \"") + list +
                                          "\", which leaves none of the virtual machine's devices: unset it");
}

void write_for_engine(const std::filesystem::path& path, const json& document) {
  try {
    write_file_whole(path, document.dump(1));
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::unavailable,
                fmt::format("cannot {} (set TMPDIR to use another place)", error.what()));
  }
}

// The file of the device's profile: its own, or one in `directory` where its memory is another.
std::string profile_file_of(const DeviceChoice& device, const std::filesystem::path& directory) {
  if (!device.total_bytes) return device.profile_file.string();
  json profile = read_device_profile(device.profile_file.string());
  profile["total_bytes"] = *device.total_bytes;
  std::filesystem::path path = directory / "profile.json";
  write_for_engine(path, profile);
  return path.string();
}

RunOrder order_of(const RunRequest& request) {
  return {request.mode == Mode::train, request.steps, request.accumulate};
}

}  // namespace

EngineProcess::EngineProcess(RunRequest request, const DeviceChoice& device, bool one_of_many) {
  child_.arguments = {engine_path().string()};
  child_.output_to_stderr = true;
  child_.grace = grace;
  stream_ = directory_.path() / "stream";
  is_scenario_ = request.command == "scenario";
  request.stream = stream_.string();
  resolve_sizes(request);
  std::vector<std::pair<std::string, std::string>> changes = value_environment(request);
  if (device.kind == DeviceChoice::Kind::virtual_gpu) {
    request.device_kind = "virtual";
    if (request.command != "inspect") check_visible();
    libraries_.emplace(virtual_gpu_libraries());
    child_.has_fork_server = one_of_many && !std::getenv("TORCHMEM_ENGINE");
    changes.insert(changes.end(), {{"LD_PRELOAD", libraries_->value(std::getenv("LD_PRELOAD"))},
                                   {"TORCHMEM_VGPU_PROFILE", profile_file_of(device, directory_.path())},
                                   {"TORCHMEM_VGPU_SPACE", address_space()},
                                   {"CUDA_VISIBLE_DEVICES", ""}});
  } else {
    request.device_kind = "cuda";
    request.device_index = device.index;
  }
  changes.emplace_back("TORCHMEM_PARENT", std::to_string(getpid()));
  child_.environment = environment_with(changes);
  std::filesystem::path request_file = directory_.path() / "request.json";
  write_for_engine(request_file, request_json(request));
  child_.arguments.push_back(request_file.string());
  for (const auto& [name, value] : changes) spdlog::debug("the engine's environment: {}={}", name, value);
  spdlog::debug("the engine's request: {}", request_json(request).dump());
}

Run EngineProcess::finish(const ChildResult& result) const {
  Run run;
  run.is_ours = true;
  if (std::filesystem::exists(stream_)) run = read_stream_file(stream_);
  spdlog::debug("the engine's stream told of {} phases and {} stacks{}", run.phases.size(), run.stacks.size(),
                run.has_segments ? "" : ", and ends early");
  // An interrupted engine may call the interruption an error of its own.
  if (!run.error || result.interrupted) run.error = error_of_end(result, run, stream_);
  if (run.error) add_remedy(*run.error, is_scenario_ ? Asked::by_scenario : Asked::by_options);
  if (!run.traces.empty()) complete_segments(run);
  return run;
}

Run run_engine(RunRequest request, const DeviceChoice& device, RunProgress* progress) {
  RunOrder order = order_of(request);
  EngineProcess engine(std::move(request), device);
  std::function<void()> meanwhile;
  if (progress) {
    progress->follow(engine.stream(), order);
    meanwhile = [progress] { progress->update(); };
  }
  try {
    return engine.finish(run_child(engine.child(), meanwhile));
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::unavailable, std::string("cannot ") + error.what());
  }
}

}  // namespace torchmem
