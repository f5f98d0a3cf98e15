#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <system_error>

#include "cli/child_process.h"
#include "cli/commands.h"
#include "cli/device_choice.h"
#include "cli/layout.h"
#include "cli/output.h"
#include "cli/preload.h"
#include "cli/process_report.h"
#include "cli/program_torch.h"
#include "cli/temporary_directory.h"

namespace torchmem::cli {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Usage: torchmem run [OPTIONS] -- PROGRAM ARGUMENTS...\n"
    "Everything after -- is the program and its arguments:\n"
    "  torchmem run --device virtual:h200 -- python3 train.py --epochs 1\n"
    "At its end, one line on standard error for each process that used the device. The exit code is the "
    "program's own;\n"
    "3 when it was not started.";

constexpr int most_devices = 8;   // as the virtual GPU has it
constexpr int signal_base = 128;  // a shell's code for death by a signal

std::string torch_text(const ProgramTorch& torch) {
  return "torch " + (torch.version.empty() ? "of an unknown version" : torch.version) +
         (torch.cuda.empty() ? ", built without CUDA," : "") + " in " + torch.path;
}

// Whether the program will use the PyTorch that the virtual GPU and the agent fit.
void check_torch(const std::vector<std::string>& program) {
  std::optional<Interpreter> interpreter = find_interpreter(program);
  if (!interpreter) return;
  std::optional<ProgramTorch> torch = find_torch(*interpreter);
  if (!torch) return;  // not there: the program will say so itself, if it wants it
  std::ifstream in(torch_json_path());
  json built = json::parse(in, nullptr, /*allow_exceptions=*/false);
  std::string version = built.is_object() ? built.value("version", "") : "";
  if (torch->version == version) return;
  std::string message =
      interpreter->path + " imports " + torch_text(*torch) + "; this build of torchmem fits torch " + version;
  if (interpreter->is_certain) {
    throw Error(ErrorKind::unavailable, message + ".\nRun the program with a Python that has torch " +
                                            version + ", or build torchmem against its torch.");
  }
  std::cerr << "torchmem: " << message << ". If the program uses that one, its memory is not measured.\n";
}

class RunCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--device", device_,
                   "auto (a real GPU if there is one, else virtual:h200), cuda, virtual, virtual:PROFILE, "
                   "virtual:FILE.json")
        ->option_text("DEVICE (default auto)");
    app.add_option("--devices", devices_, "How many devices the virtual machine has, 1 to 8, all alike")
        ->option_text("N (default 1)")
        ->check(CLI::Range(1, most_devices));
    app.footer(footer);
  }

  ExitCode run() override {
    try {
      return start();
    } catch (const Error& error) {
      // The program was not started: that must not look like an exit code of its own.
      throw Error(error.kind() == ErrorKind::bad_usage ? ErrorKind::bad_usage : ErrorKind::unavailable,
                  error.what());
    }
  }

 private:
  ExitCode start() {
    if (program.empty()) {
      throw Error(ErrorKind::bad_usage,
                  "no program to run. Expected: torchmem run [OPTIONS] -- PROGRAM ARGUMENTS...");
    }
    check_outputs({{"--json", common.json}}, {});
    outputs_checked = true;
    if (find_in_path(program[0]).empty()) {
      throw Error(ErrorKind::unavailable, "cannot start '" + program[0] + "': there is no such program" +
                                              (program[0].find('/') == std::string::npos ? " in PATH" : ""));
    }
    DeviceChoice device = choose_device(device_);
    if (devices_ > 0 && device.kind != DeviceChoice::Kind::virtual_gpu) {
      throw Error(ErrorKind::bad_usage,
                  "--devices is for a virtual device: the number of real ones is given");
    }
    check_torch(program);
    TemporaryDirectory state;
    std::vector<std::pair<std::string, std::string>> changes = {{"TORCHMEM_RUN_DIR", state.path().string()},
                                                                {"TORCHMEM_AGENT", agent_path().string()}};
    std::vector<std::filesystem::path> preloaded;
    if (device.kind == DeviceChoice::Kind::virtual_gpu) {
      preloaded = virtual_gpu_libraries();
      changes.emplace_back("TORCHMEM_VGPU_PROFILE", device.profile_file.string());
      if (devices_ > 0) changes.emplace_back("TORCHMEM_VGPU_DEVICES", std::to_string(devices_));
    } else {
      preloaded = {join_path()};
      if (device_ != "auto" && device_ != "cuda")
        changes.emplace_back("CUDA_VISIBLE_DEVICES", std::to_string(device.index));
    }
    PreloadList libraries(preloaded);
    changes.emplace_back("LD_PRELOAD", libraries.value(std::getenv("LD_PRELOAD")));
    ChildOptions child;
    child.arguments = program;
    child.environment = environment_with(changes);
    ChildResult result;
    try {
      result = run_child(child);
    } catch (const std::system_error& error) {
      throw Error(ErrorKind::unavailable, std::string("cannot ") + error.what());
    }
    report(state.path(), result);
    int code =
        WIFSIGNALED(result.status) ? signal_base + WTERMSIG(result.status) : WEXITSTATUS(result.status);
    return static_cast<ExitCode>(code);
  }

  // The program's own exit code stands whatever happens here.
  void report(const std::filesystem::path& state, const ChildResult& result) const {
    std::cerr << processes_text(state) << std::flush;
    if (common.json.empty()) return;
    json document = {
        {"schema", "torchmem.processes/1"}, {"torchmem", TORCHMEM_VERSION}, {"program", program}};
    if (WIFSIGNALED(result.status)) {
      document["signal"] = WTERMSIG(result.status);
    } else {
      document["exit_code"] = WEXITSTATUS(result.status);
    }
    document["processes"] = processes_json(state);
    try {
      write_json_output(common.json, document);
    } catch (const Error& error) {
      std::cerr << "torchmem: " << error.what() << std::endl;
    }
  }

  std::string device_ = "auto";
  int devices_ = 0;  // 0: not given
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace torchmem::cli
