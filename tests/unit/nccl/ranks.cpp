#include "ranks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

void Ranks::SetUp() {
  char folder[] = "/tmp/nccl-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  folder_ = folder;
  setenv("TORCHMEM_RUN_DIR", folder, 1);
  setenv("TORCHMEM_NCCL_WAIT_MS", "20000", 1);
  unsetenv("TORCHMEM_NCCL_LOG_BYTES");
  fake::clear();
}

void Ranks::TearDown() {
  fake::clear();
  std::filesystem::remove_all(folder_);
}

void Ranks::one(int rank, int ranks, const UniqueId& id, const Body& body) {
  Rank self{rank, ranks, nullptr, static_cast<uint64_t>(rank + 1) << 32};
  ncclCommInitRank(&self.communicator, ranks, id, rank);
  body(self);
  if (self.communicator) ncclCommDestroy(self.communicator);
}

void Ranks::run(int ranks, const Body& body, Side side, int present) {
  UniqueId id;
  ncclGetUniqueId(&id);
  if (present < 0) present = ranks;
  if (side == Side::threads) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < present; ++rank)
      threads.emplace_back([&, rank] { one(rank, ranks, id, body); });
    for (std::thread& thread : threads) thread.join();
    return;
  }
  std::vector<pid_t> children;
  std::string said = folder_ + "/said";
  std::fflush(nullptr);
  for (int rank = 0; rank < present; ++rank) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      FILE* out = std::freopen((said + std::to_string(rank)).c_str(), "w", stderr);
      dup2(STDERR_FILENO, STDOUT_FILENO);
      one(rank, ranks, id, body);
      std::fflush(nullptr);
      _exit(out && !HasFailure() ? 0 : 1);
    }
    children.push_back(child);
  }
  said_.clear();
  for (size_t rank = 0; rank < children.size(); ++rank) {
    int status = -1;
    waitpid(children[rank], &status, 0);
    std::ifstream in(said + std::to_string(rank));
    std::stringstream text;
    text << in.rdbuf();
    said_ += text.str();
    EXPECT_EQ(status, 0) << "rank " << rank << ": " << text.str();
  }
}
