#include "launch/first_process.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "launch/exit_code.h"

namespace torchmem {

namespace {

constexpr int signal_base = 128;  // a shell's code for death by a signal
// What a fault of this process itself raises.
constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

sigset_t passed_on() {
  sigset_t signals;
  sigfillset(&signals);
  for (int fault : faults) sigdelset(&signals, fault);
  return signals;
}

// A key of the terminal (Ctrl-C) reaches every process of the group; its end reaches process 1 alone.
bool has_reached_all(const siginfo_t& information) {
  return information.si_code == SI_KERNEL && information.si_signo != SIGHUP;
}

// Returns the child's status when it has ended. What was left without a parent is reaped meanwhile.
int wait_for(pid_t child, const sigset_t& signals) {
  while (true) {
    int status = 0;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      if (ended == child) return status;
    siginfo_t information{};
    int signal = sigwaitinfo(&signals, &information);
    if (signal > 0 && signal != SIGCHLD && !has_reached_all(information)) kill(child, signal);
  }
}

}  // namespace

int run_as_first_process(const std::function<int()>& work) {
  if (getpid() != 1) return work();
  // Blocked, they wait to be asked for: the kernel drops what process 1 has no handler for.
  sigset_t before;
  const sigset_t signals = passed_on();
  sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t child = fork();
  if (child < 0) {
    std::cerr << "torchmem: as the first process of a container it needs a second one: " << strerror(errno)
              << ". Allow more processes.\n";
    return static_cast<int>(ExitCode::unavailable);
  }
  if (child == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return work();
  }
  const int status = wait_for(child, signals);
  return WIFSIGNALED(status) ? signal_base + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace torchmem
