#include "run/process_state.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <filesystem>
#include <string>

namespace {

std::string make_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "torchmem_state_test.XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

TEST(ProcessState, TwoCallersShareOneState) {
  std::string directory = make_directory();
  torchmem_process_state* one = torchmem_process_state_open(directory.c_str());
  torchmem_process_state* two = torchmem_process_state_open(directory.c_str());
  ASSERT_TRUE(one && two);
  one->devices[0].peak_allocated = 42;
  EXPECT_EQ(two->devices[0].peak_allocated, 42u);
  EXPECT_EQ(two->pid, static_cast<uint64_t>(getpid()));
  EXPECT_NE(std::string(two->command).find("run_test"), std::string::npos);
  torchmem_process_state_close(one);
  torchmem_process_state_close(two);
  std::filesystem::remove_all(directory);
}

TEST(ProcessState, OutlivesAKill) {
  std::string directory = make_directory();
  pid_t child = fork();
  if (child == 0) {
    torchmem_process_state* state = torchmem_process_state_open(directory.c_str());
    if (state) state->devices[1].peak_reserved = 7;
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  FILE* file = fopen((directory + "/process-" + std::to_string(child)).c_str(), "rb");
  ASSERT_TRUE(file);
  torchmem_process_state state;
  ASSERT_EQ(fread(&state, sizeof state, 1, file), 1u);
  fclose(file);
  EXPECT_EQ(state.magic, TORCHMEM_PROCESS_STATE_MAGIC);
  EXPECT_EQ(state.devices[1].peak_reserved, 7u);
  std::filesystem::remove_all(directory);
}

TEST(ProcessState, ABadDirectoryGivesNothing) {
  EXPECT_EQ(torchmem_process_state_open("/nowhere/at/all"), nullptr);
  EXPECT_EQ(torchmem_process_state_open(std::string(5000, 'x').c_str()), nullptr);
}

}  // namespace
