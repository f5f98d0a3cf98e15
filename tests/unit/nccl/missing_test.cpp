// What is taken when others do not send: they are not there, ended, or could not write.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "../../../src/vgpu/nccl/numbers.h"
#include "ranks.h"

using namespace torchmem::vgpu::nccl;
using fake::at;
using fake::get;
using fake::put;

namespace {

double seconds_of(const std::function<void()>& work) {
  auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

struct Missing : Ranks {
  // What a rank whose peers are alike gets, assumed.
  static void check_alike(Rank& self) {
    uint64_t there = self.memory + 64;
    put<int32_t>(self.memory, {5, 6});
    ncclAllReduce(at(self.memory), at(there), 2, int32, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(there, 2), (std::vector<int32_t>{10, 12}));
    EXPECT_EQ(fake::state(there, 8), tmv_value_assumed);
    ncclAllGather(at(self.memory), at(there), 2, int32, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(there, 4), (std::vector<int32_t>{5, 6, 5, 6}));
    EXPECT_EQ(fake::state(there, 16), tmv_value_assumed);
    ncclBcast(at(self.memory), 2, int32, 1, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory, 2), (std::vector<int32_t>{5, 6}));
    EXPECT_EQ(fake::state(self.memory, 8), tmv_value_assumed);
    ncclRecv(at(there), 1, int32, 1, self.communicator, nullptr);
    EXPECT_EQ(fake::state(there, 4), tmv_value_unknown);
  }
};

TEST_F(Missing, ARankThatNeverJoinsIsWaitedForOnceAndNamedOnce) {
  setenv("TORCHMEM_NCCL_WAIT_MS", "300", 1);
  run(
      2,
      [](Rank& self) {
        double took = seconds_of([&] { check_alike(self); });
        EXPECT_GE(took, 0.29);
        EXPECT_LT(took, 0.55);
      },
      Side::processes, 1);
  EXPECT_EQ(lines(said()), 1u) << said();
  EXPECT_NE(said().find("torchmem: NCCL: rank 0 of 2 waits for ncclAllReduce of rank 1, which never joined"),
            std::string::npos)
      << said();
}

TEST_F(Missing, ARankWhoseProcessEndedIsNotWaitedFor) {
  run(2, [](Rank& self) {
    // It ends without a word, and its parent does not wait for it until all have ended.
    if (self.rank == 1) _exit(0);
    usleep(200000);
    EXPECT_LT(seconds_of([&] { check_alike(self); }), 5);
  });
  EXPECT_EQ(lines(said()), 1u) << said();
  EXPECT_NE(said().find("ended before"), std::string::npos) << said();
}

TEST_F(Missing, WhatARankSentBeforeItEndedArrives) {
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {self.rank + 1});
    if (self.rank == 0) usleep(200000);
    ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, self.communicator, nullptr);
    if (self.rank == 1) _exit(0);
    EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 3);
    EXPECT_EQ(fake::state(self.memory, 4), tmv_value_known);
  });
  EXPECT_EQ(said(), "");
}

TEST_F(Missing, ARankThatGaveUpItsCommunicatorIsNotWaitedFor) {
  run(2, [](Rank& self) {
    if (self.rank == 1) {
      ncclCommDestroy(self.communicator);
      self.communicator = nullptr;
      sleep(1);
      return;
    }
    usleep(200000);
    EXPECT_LT(seconds_of([&] { check_alike(self); }), 0.7);
  });
  EXPECT_NE(said().find("gave up the communicator"), std::string::npos) << said();
}

TEST_F(Missing, ALateRankIsWaitedFor) {
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {self.rank + 1});
    if (self.rank == 1) usleep(400000);
    ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 3);
  });
  EXPECT_EQ(said(), "");
}

TEST_F(Missing, WhoCameTooLateOnceIsHeardAgain) {
  setenv("TORCHMEM_NCCL_WAIT_MS", "100", 1);
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {self.rank + 1});
    if (self.rank == 1) usleep(500000);
    ncclAllReduce(at(self.memory), at(self.memory + 8), 1, int32, reduction_sum, self.communicator, nullptr);
    ncclAllReduce(at(self.memory), at(self.memory + 16), 1, int32, reduction_sum, self.communicator, nullptr);
    if (self.rank == 0) {
      EXPECT_EQ(get<int32_t>(self.memory + 8, 1)[0], 2);
      usleep(800000);
    }
    EXPECT_EQ(get<int32_t>(self.memory + 16, 1)[0], 3);
  });
  EXPECT_EQ(lines(said()), 1u) << said();
}

TEST_F(Missing, ASplitWithoutTheOthers) {
  setenv("TORCHMEM_NCCL_WAIT_MS", "100", 1);
  run(
      2,
      [](Rank& self) {
        Communicator* child = nullptr;
        ncclCommSplit(self.communicator, 3, 0, &child, nullptr);
        int count = 0, rank = -1;
        ncclCommCount(child, &count);
        ncclCommUserRank(child, &rank);
        EXPECT_EQ(count, 2);
        EXPECT_EQ(rank, 0);
        ncclCommDestroy(child);
      },
      Side::processes, 1);
}

// A writer that may write no more says so: nobody waits, and what does not come is unknown.
TEST_F(Missing, ALogThatIsFull) {
  setenv("TORCHMEM_NCCL_LOG_BYTES", "4000", 1);
  run(2, [](Rank& self) {
    std::vector<int32_t> values(100, self.rank + 1);
    int known = 0;
    double took = seconds_of([&] {
      for (int turn = 0; turn < 20; ++turn) {
        put(self.memory, values);
        ncclAllReduce(at(self.memory), at(self.memory), 100, int32, reduction_sum, self.communicator,
                      nullptr);
        int state = 0;
        auto result = get<int32_t>(self.memory, 100, &state);
        if (state == tmv_value_unknown) continue;
        EXPECT_EQ(result, std::vector<int32_t>(100, 3));
        ++known;
      }
    });
    EXPECT_LT(took, 5);
    EXPECT_EQ(known, 8);
  });
  EXPECT_EQ(lines(said()), 2u) << said();
  EXPECT_NE(said().find("no longer reach other ranks: more than TORCHMEM_NCCL_LOG_BYTES"), std::string::npos);
  for (const auto& file : std::filesystem::directory_iterator(folder())) EXPECT_LT(file.file_size(), 4200u);
}

TEST_F(Missing, DifferentCallsThatMeetAreUnknown) {
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {1, 2});
    ncclAllReduce(at(self.memory), at(self.memory + 64), self.rank == 0 ? 1 : 2, int32, reduction_sum,
                  self.communicator, nullptr);
    EXPECT_EQ(fake::state(self.memory + 64, 4), tmv_value_unknown);
  });
  EXPECT_NE(said().find("meets another call"), std::string::npos);
}

struct Alone : Ranks {
  void check() {
    Communicator* communicator = nullptr;
    UniqueId id;
    ncclGetUniqueId(&id);
    ncclCommInitRank(&communicator, 2, id, 0);
    put<int32_t>(0x100, {5, 6});
    ncclAllGather(at(0x100), at(0x200), 2, int32, communicator, nullptr);
    EXPECT_EQ(get<int32_t>(0x200, 4), (std::vector<int32_t>{5, 6, 5, 6}));
    EXPECT_EQ(fake::counted_values(), 1u);
    ncclAllReduce(at(0x100), at(0x200), 2, int32, reduction_max, communicator, nullptr);
    EXPECT_EQ(get<int32_t>(0x200, 2), (std::vector<int32_t>{5, 6}));
    ncclAllReduce(at(0x100), at(0x200), 2, int32, reduction_sum, communicator, nullptr);
    EXPECT_EQ(fake::state(0x200, 8), tmv_value_unknown);
    ncclBcast(at(0x100), 2, int32, 1, communicator, nullptr);
    EXPECT_EQ(get<int32_t>(0x100, 2), (std::vector<int32_t>{5, 6}));
    put<int32_t>(0x200, {5, 6});
    ncclRecv(at(0x200), 2, int32, 1, communicator, nullptr);
    EXPECT_EQ(fake::state(0x200, 8), tmv_value_unknown);
    Communicator* child = nullptr;
    ncclCommSplit(communicator, 0, 0, &child, nullptr);
    int count = 0;
    ncclCommCount(child, &count);
    EXPECT_EQ(count, 2);
    ncclCommDestroy(child);
    ncclCommDestroy(communicator);
  }
};

TEST_F(Alone, OutsideARunRanksAreTakenToBeAlike) {
  unsetenv("TORCHMEM_RUN_DIR");
  check();
}

TEST_F(Alone, AFolderThatTakesNoFiles) {
  setenv("TORCHMEM_RUN_DIR", "/proc/no/such/folder", 1);
  check();
}

TEST_F(Alone, WhileAStreamCaptures) {
  setenv("TORCHMEM_NCCL_WAIT_MS", "10", 1);
  fake::set_capturing(true);
  check();
  fake::set_capturing(false);
}

TEST_F(Alone, InAChildMadeByFork) {
  Communicator* communicator = nullptr;
  UniqueId id;
  ncclGetUniqueId(&id);
  ncclCommInitRank(&communicator, 2, id, 0);
  pid_t child = fork();
  if (child == 0) {
    put<int32_t>(0x100, {5});
    ncclAllGather(at(0x100), at(0x200), 1, int32, communicator, nullptr);
    bool right = get<int32_t>(0x200, 2) == std::vector<int32_t>{5, 5};
    ncclCommDestroy(communicator);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  // The child gave up nothing of its parent's.
  Communicator* other = nullptr;
  ncclCommInitRank(&other, 2, id, 1);
  for (uint64_t rank = 0; rank < 2; ++rank) {
    put<int32_t>(0x100 + rank * 64, {static_cast<int>(rank) + 1});
    ncclAllReduce(at(0x100 + rank * 64), at(0x100 + rank * 64), 1, int32, reduction_sum,
                  rank ? other : communicator, nullptr);
  }
  EXPECT_EQ(get<int32_t>(0x140, 1)[0], 3);
  ncclCommDestroy(communicator);
  ncclCommDestroy(other);
}

}  // namespace
