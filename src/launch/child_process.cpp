#include "launch/child_process.h"

#include <signal.h>
#include <spawn.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <system_error>

#include "launch/fork_server.h"

extern char** environ;

namespace torchmem {

namespace {

using Clock = std::chrono::steady_clock;

// A terminal that closes and Ctrl-\\ count as well: children must not be left behind.
constexpr int interruptions[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int most_patience = 3;  // of these, for a child whose time to end is not limited
constexpr std::chrono::milliseconds longest_wait(1000);
constexpr std::chrono::milliseconds between_calls(200);

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

// While it lives the signals are not delivered but wait to be asked for.
class ChildGroup::HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGCHLD);
    for (int signal : interruptions) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  // The next signal, or -1 when none comes in that time.
  int wait(siginfo_t& information, std::chrono::milliseconds longest) const {
    timespec timeout{longest.count() / 1000, longest.count() % 1000 * 1000000};
    return sigtimedwait(&held_, &information, &timeout);
  }

 private:
  sigset_t held_;
  sigset_t before_;
};

struct ChildGroup::Child {
  size_t number = 0;
  pid_t pid = 0;
  std::chrono::milliseconds grace{0};
  Clock::time_point stop_at = Clock::time_point::max();
  int interruptions = 0;
  ChildResult result;
};

ChildGroup::ChildGroup() : signals_(std::make_unique<HeldSignals>()) {}

ChildGroup::~ChildGroup() {
  for (Child& child : children_) {
    kill(child.pid, SIGKILL);
    waitpid(child.pid, &child.result.status, 0);
  }
}

size_t ChildGroup::start(const ChildOptions& options) {
  Child child;
  child.pid = start_process(options);
  child.number = started_++;
  child.grace = options.grace;
  children_.push_back(child);
  return child.number;
}

pid_t ChildGroup::start_process(const ChildOptions& options) {
  if (options.has_fork_server) {
    std::vector<std::string> key = options.environment;
    key.push_back(options.arguments[0]);
    std::unique_ptr<ForkServer>& program = fork_servers_[std::move(key)];
    if (!program) {
      program = std::make_unique<ForkServer>(options.arguments[0], options.environment, signals_->before());
      spdlog::debug("loaded {} once, to fork each of its runs", options.arguments[0]);
    }
    if (std::optional<pid_t> copy = program->start(options.arguments[1])) {
      spdlog::debug("process {} is a fork of it: {}", *copy, fmt::join(options.arguments, " "));
      return *copy;
    }
    spdlog::debug("the loaded {} does not answer; started anew", options.arguments[0]);
  }
  std::vector<Redirection> redirections;
  if (options.output_to_stderr) redirections.push_back({STDERR_FILENO, STDOUT_FILENO});
  pid_t child = spawn(options.arguments, options.environment, signals_->before(), redirections);
  spdlog::debug("process {} started: {}", child, fmt::join(options.arguments, " "));
  return child;
}

size_t ChildGroup::running() const { return children_.size(); }

bool ChildGroup::interrupted() {
  siginfo_t information{};
  for (int signal; (signal = signals_->wait(information, std::chrono::milliseconds(0))) > 0;)
    take(signal, information.si_code == SI_KERNEL);
  return interrupted_;
}

// A terminal's own signal reaches the children as it reached us.
void ChildGroup::take(int signal, bool from_terminal) {
  if (std::find(std::begin(interruptions), std::end(interruptions), signal) == std::end(interruptions))
    return;
  interrupted_ = true;
  for (Child& child : children_) {
    bool limited = child.grace.count() > 0;
    if (++child.interruptions >= (limited ? 2 : most_patience)) {
      kill(child.pid, SIGKILL);
    } else if (!from_terminal) {
      kill(child.pid, signal);
    }
    if (!child.result.interrupted && limited) child.stop_at = Clock::now() + child.grace;
    child.result.interrupted = true;
  }
}

std::pair<size_t, ChildResult> ChildGroup::wait(const std::function<void()>& meanwhile) {
  while (true) {
    for (auto child = children_.begin(); child != children_.end(); ++child) {
      pid_t ended = waitpid(child->pid, &child->result.status, WNOHANG);
      if (ended < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "wait for a program");
      if (ended == child->pid) {
        std::pair<size_t, ChildResult> result(child->number, child->result);
        spdlog::debug("process {} ended {}", ended, end_text(child->result));
        children_.erase(child);
        return result;
      }
      if (Clock::now() >= child->stop_at) kill(child->pid, SIGKILL);
    }
    siginfo_t information{};
    int signal = signals_->wait(information, meanwhile ? between_calls : longest_wait);
    take(signal, information.si_code == SI_KERNEL);
    if (meanwhile) meanwhile();
  }
}

pid_t spawn(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
            const sigset_t& mask, const std::vector<Redirection>& redirections) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (const Redirection& file : redirections)
    posix_spawn_file_actions_adddup2(&actions, file.ours, file.childs);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> words = pointers(arguments);
  pid_t child = 0;
  int error =
      posix_spawnp(&child, words[0], &actions, &attributes, words.data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), "start " + arguments[0]);
  return child;
}

ChildResult run_child(const ChildOptions& options, const std::function<void()>& meanwhile) {
  ChildGroup group;
  group.start(options);
  return group.wait(meanwhile).second;
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

std::string end_text(const ChildResult& result) {
  std::string text = WIFSIGNALED(result.status) ? "by " + signal_name(WTERMSIG(result.status))
                                                : fmt::format("with code {}", WEXITSTATUS(result.status));
  return result.interrupted ? text + ", interrupted" : text;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name ? fmt::format("SIG{} (signal {})", name, signal) : fmt::format("signal ({})", signal);
}

}  // namespace torchmem
