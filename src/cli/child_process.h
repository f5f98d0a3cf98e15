// One child process that is waited for, with the signals that stop torchmem passed on to it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace torchmem::cli {

struct ChildResult {
  int status = 0;            // as waitpid gives it
  bool interrupted = false;  // SIGINT or SIGTERM came while it ran
};

struct ChildOptions {
  std::vector<std::string> arguments;    // the program first; looked up in PATH when it has no slash
  std::vector<std::string> environment;  // NAME=VALUE, complete
  bool output_to_stderr = false;         // its standard output goes to ours for errors
  // After an interruption: how long it may take to end before it is killed. Zero: it may take any time.
  std::chrono::milliseconds grace{0};
};

// Runs the child to its end. Throws std::system_error when it cannot be started.
ChildResult run_child(const ChildOptions& options);

// This process's environment with some variables set (or, with an empty value, removed).
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes);

// "SIGKILL (signal 9)".
std::string signal_name(int signal);

}  // namespace torchmem::cli
