#include "cli/child_process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <system_error>

namespace torchmem::cli {
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

TEST(ChildProcess, Names) {
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL (signal 9)");
  EXPECT_EQ(signal_name(64), "signal (64)");
}

}  // namespace
}  // namespace torchmem::cli
