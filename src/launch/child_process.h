// Child processes that are waited for, with the signals that stop torchmem passed on to them.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torchmem {

class ForkServer;

struct ChildResult {
  int status = 0;            // as waitpid gives it
  bool interrupted = false;  // an interruption came while it ran
};

struct ChildOptions {
  std::vector<std::string> arguments;    // the program first; looked up in PATH when it has no slash
  std::vector<std::string> environment;  // NAME=VALUE, complete
  bool output_to_stderr = false;         // its standard output goes to ours for errors
  // After an interruption: how long it may take to end before it is killed. Zero: it may take any time.
  std::chrono::milliseconds grace{0};
  // The program serves (see ForkServer) and is loaded once for all that have the same environment. It has
  // one argument then.
  bool has_fork_server = false;
};

// Several at once. While it lives, interruptions (SIGINT, SIGTERM, SIGHUP, SIGQUIT) do not
// end torchmem: they go on to the children.
class ChildGroup {
 public:
  ChildGroup();
  ~ChildGroup();  // kills what still runs
  ChildGroup(const ChildGroup&) = delete;
  ChildGroup& operator=(const ChildGroup&) = delete;

  // Returns the child's number, which counts from 0. Throws std::system_error when it cannot be started.
  size_t start(const ChildOptions& options);
  // How many run.
  size_t running() const;
  // Waits until one of them ends: its number and how it ended. At least one must run. `meanwhile`, if any, is
  // called a few times a second.
  std::pair<size_t, ChildResult> wait(const std::function<void()>& meanwhile = nullptr);
  // Whether an interruption has come since the beginning.
  bool interrupted();

 private:
  class HeldSignals;
  struct Child;
  void take(int signal, bool from_terminal);
  pid_t start_process(const ChildOptions& options);

  std::unique_ptr<HeldSignals> signals_;
  std::map<std::vector<std::string>, std::unique_ptr<ForkServer>>
      fork_servers_;  // by program and environment
  std::vector<Child> children_;
  size_t started_ = 0;
  bool interrupted_ = false;
};

// A file of ours that the child has under another number.
struct Redirection {
  int ours = 0;
  int childs = 0;
};

// Starts a process; its program is looked up in PATH when it has no slash. `mask`: its blocked signals.
// Throws std::system_error.
pid_t spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
            const sigset_t& mask, const std::vector<Redirection>& redirections);

// Runs one child to its end. Throws std::system_error when it cannot be started.
ChildResult run_child(const ChildOptions& options, const std::function<void()>& meanwhile = nullptr);

// This process's environment with some variables set (or, with an empty value, removed).
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes);

// "with code 2", "by SIGKILL (signal 9)", "by SIGINT (signal 2), interrupted".
std::string end_text(const ChildResult& result);

// "SIGKILL (signal 9)".
std::string signal_name(int signal);

}  // namespace torchmem
