// A program that takes long to load, loaded once and copied for each use.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace torchmem {

// Runs "PROGRAM --serve", which for each line on its standard input forks a process for that argument, leaves
// it to this one as a child, and answers with a line that has its process id. The copies' standard input is
// /dev/null, and their standard output goes to ours for errors.
class ForkServer {
 public:
  // `environment`: NAME=VALUE, complete. `mask`: the blocked signals of the copies. Throws std::system_error
  // when it cannot be started.
  ForkServer(const std::string& program, const std::vector<std::string>& environment, const sigset_t& mask);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // The process of a copy, which must be waited for. Nothing where there is none: the program does not serve,
  // or has ended.
  std::optional<pid_t> start(const std::string& argument);

 private:
  pid_t pid_ = 0;
  int socket_ = -1;
};

}  // namespace torchmem
