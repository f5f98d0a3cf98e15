#include "cli/child_process.h"

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

extern char** environ;

namespace torchmem::cli {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// While it lives the signals are not delivered but wait for sigtimedwait.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  // The next signal, or -1 after a second without any.
  int wait(siginfo_t& information) const {
    timespec timeout{1, 0};
    return sigtimedwait(&held_, &information, &timeout);
  }

 private:
  sigset_t held_;
  sigset_t before_;
};

pid_t spawn(const ChildOptions& options, const sigset_t& mask) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (options.output_to_stderr) posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments = pointers(options.arguments);
  std::vector<char*> environment = pointers(options.environment);
  pid_t child = 0;
  int error = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "start " + options.arguments[0]);
  return child;
}

}  // namespace

ChildResult run_child(const ChildOptions& options) {
  using Clock = std::chrono::steady_clock;
  HeldSignals signals;
  pid_t child = spawn(options, signals.before());
  ChildResult result;
  Clock::time_point stop_at = Clock::time_point::max();
  while (true) {
    pid_t ended = waitpid(child, &result.status, WNOHANG);
    if (ended == child) return result;
    if (ended < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "wait for a program");
    siginfo_t information{};
    int signal = signals.wait(information);
    if (signal == SIGINT || signal == SIGTERM) {
      bool limited = options.grace.count() > 0;
      if (result.interrupted && limited) {
        kill(child, SIGKILL);
      } else if (information.si_code != SI_KERNEL) {
        kill(child, signal);  // a terminal's own reaches the child as it reached us
      }
      if (!result.interrupted && limited) stop_at = Clock::now() + options.grace;
      result.interrupted = true;
    }
    if (Clock::now() >= stop_at) kill(child, SIGKILL);
  }
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    std::string text = *entry;
    bool changed = std::any_of(changes.begin(), changes.end(),
                               [&](const auto& change) { return text.starts_with(change.first + "="); });
    if (!changed) result.push_back(std::move(text));
  }
  for (const auto& [name, value] : changes) {
    if (!value.empty()) result.push_back(name + "=" + value);
  }
  return result;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return (name ? "SIG" + std::string(name) + " (signal " : "signal (") + std::to_string(signal) + ")";
}

}  // namespace torchmem::cli
