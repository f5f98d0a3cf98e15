#include "launch/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "launch/temporary_directory.h"

namespace torchmem {
namespace {

ChildResult run(const std::string& script, std::chrono::milliseconds grace = std::chrono::milliseconds(0)) {
  return run_child({{"sh", "-c", script}, environment_with({}), false, grace});
}

TEST(ChildProcess, TellsHowItEnded) {
  EXPECT_EQ(WEXITSTATUS(run("exit 7").status), 7);
  EXPECT_EQ(WTERMSIG(run("kill -SEGV $$").status), SIGSEGV);
  EXPECT_THROW(run_child({{"/no/such/program"}, {}, false, {}}), std::system_error);
}

TEST(ChildProcess, EnvironmentIsChanged) {
  setenv("TORCHMEM_TEST_A", "old", 1);
  setenv("TORCHMEM_TEST_B", "old", 1);
  auto environment =
      environment_with({{"TORCHMEM_TEST_A", "new"}, {"TORCHMEM_TEST_B", ""}, {"TORCHMEM_TEST_C", "c"}});
  std::string script =
      "test \"$TORCHMEM_TEST_A\" = new && test -z \"${TORCHMEM_TEST_B+set}\" && test \"$TORCHMEM_TEST_C\" = "
      "c";
  EXPECT_EQ(run_child({{"sh", "-c", script}, environment, false, {}}).status, 0);
}

// The signal goes on to the child, and this process lives.
TEST(ChildProcess, AnInterruptionIsPassedOn) {
  ChildResult result = run("trap 'exit 9' INT; kill -INT $PPID; while :; do sleep 0.05; done");
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(WEXITSTATUS(result.status), 9);
}

// A child that does not care is killed when its time is over.
TEST(ChildProcess, AnInterruptionEndsIt) {
  ChildResult result =
      run("trap '' TERM; kill -TERM $PPID; while :; do sleep 0.05; done", std::chrono::milliseconds(500));
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(WTERMSIG(result.status), SIGKILL);
}

ChildOptions shell(const std::string& script) {
  return {{"sh", "-c", script}, environment_with({}), false, std::chrono::milliseconds(500)};
}

TEST(ChildGroup, WaitsForWhicheverEnds) {
  ChildGroup group;
  size_t slow = group.start(shell("sleep 0.4; exit 1"));
  size_t quick = group.start(shell("exit 2"));
  EXPECT_EQ(group.running(), 2u);
  auto first = group.wait();
  EXPECT_EQ(first.first, quick);
  EXPECT_EQ(WEXITSTATUS(first.second.status), 2);
  size_t third = group.start(shell("exit 3"));
  EXPECT_EQ(group.wait().first, third);
  auto last = group.wait();
  EXPECT_EQ(last.first, slow);
  EXPECT_EQ(WEXITSTATUS(last.second.status), 1);
  EXPECT_EQ(group.running(), 0u);
  EXPECT_FALSE(group.interrupted());
}

TEST(ChildGroup, AnInterruptionReachesAll) {
  ChildGroup group;
  group.start(shell("trap 'exit 5' TERM; while :; do sleep 0.05; done"));
  group.start(shell("trap '' TERM; while :; do sleep 0.05; done"));
  group.start(shell("sleep 0.2; kill -TERM $PPID; exit 0"));
  int killed = 0;
  int obeyed = 0;
  while (group.running() > 0) {
    ChildResult result = group.wait().second;
    killed += WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGKILL;
    obeyed += WIFEXITED(result.status) && WEXITSTATUS(result.status) == 5;
  }
  EXPECT_EQ(obeyed, 1);
  EXPECT_EQ(killed, 1);
  EXPECT_TRUE(group.interrupted());
}

// A signal that comes while nothing runs is not lost.
TEST(ChildGroup, AnInterruptionBetweenChildrenIsKept) {
  ChildGroup group;
  kill(getpid(), SIGINT);
  EXPECT_TRUE(group.interrupted());
}

TEST(ChildGroup, NothingOutlivesIt) {
  {
    ChildGroup group;
    group.start(shell("exec sleep 60"));  // no process of its own that would stay
    group.start(shell("exit 0"));
    group.wait();
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // no child is left
}

// A script as a program.
class Script {
 public:
  explicit Script(const std::string& text) : path_(directory_.path() / "program") {
    std::ofstream(path_) << "#!/bin/sh\n" << text;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ChildOptions with(const std::string& argument) const {
    ChildOptions options{
        {path_.string(), argument}, environment_with({}), false, std::chrono::milliseconds(0)};
    options.has_fork_server = true;
    return options;
  }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path path_;
};

// Loaded once, and each copy is waited for as any other child.
TEST(ChildGroup, AForkServerIsLoadedOnce) {
  Script script(
      "[ \"$1\" = --serve ] || exit 99\n"
      "while read -r code; do\n"
      // Not at once: the shell in between would wait for it itself.
      "  copy=$(sh -c \"sleep 0.3; exit $code\" >&2 </dev/null & echo $!)\n"
      "  echo \"$copy\"\n"
      "done\n");
  {
    ChildGroup group;
    for (int code : {3, 4, 5}) group.start(script.with(std::to_string(code)));
    int sum = 0;
    while (group.running() > 0) sum += WEXITSTATUS(group.wait().second.status);
    EXPECT_EQ(sum, 12);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);  // the program itself has ended as well
}

TEST(ChildGroup, AProgramThatDoesNotServeIsStartedEachTime) {
  for (const char* answer : {"exit 3", "read -r line; echo nonsense; exit 0"}) {
    Script script("if [ \"$1\" = --serve ]; then " + std::string(answer) + "; fi\nexit \"$1\"\n");
    ChildGroup group;
    for (int code : {6, 7}) group.start(script.with(std::to_string(code)));
    int sum = 0;
    while (group.running() > 0) sum += WEXITSTATUS(group.wait().second.status);
    EXPECT_EQ(sum, 13) << answer;
  }
}

TEST(ChildProcess, Names) {
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL (signal 9)");
  EXPECT_EQ(signal_name(64), "signal (64)");
}

}  // namespace
}  // namespace torchmem
