#include "launch/fork_server.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "launch/child_process.h"

namespace torchmem {

namespace {

[[noreturn]] void refuse(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// No SIGPIPE where the program has ended.
bool send_all(int socket, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t sent = send(socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    done += static_cast<size_t>(sent);
  }
  return true;
}

// Without the line's end; nothing where the file ends before it.
std::optional<std::string> read_line(int file) {
  std::string line;
  for (char c = 0;;) {
    ssize_t got = read(file, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    if (c == '\n') return line;
    line += c;
  }
}

}  // namespace

ForkServer::ForkServer(const std::string& program, const std::vector<std::string>& environment,
                       const sigset_t& mask) {
  // A copy's parent ends at once: the copy is then this process's child.
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) refuse("become the parent of copies");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) refuse("make a pair of sockets");
  socket_ = ends[0];
  try {
    pid_ =
        spawn({program, "--serve"}, environment, mask, {{ends[1], STDIN_FILENO}, {ends[1], STDOUT_FILENO}});
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
}

ForkServer::~ForkServer() {
  close(socket_);  // which ends it
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<pid_t> ForkServer::start(const std::string& argument) {
  if (argument.find('\n') != std::string::npos || !send_all(socket_, argument + "\n")) return std::nullopt;
  std::optional<std::string> answer = read_line(socket_);
  if (!answer) return std::nullopt;
  pid_t copy = 0;
  auto [end, error] = std::from_chars(answer->data(), answer->data() + answer->size(), copy);
  if (error != std::errc() || end != answer->data() + answer->size() || copy <= 0) return std::nullopt;
  return copy;
}

}  // namespace torchmem
