// Who is in a communicator, and which ranks find each other.
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "../../../src/vgpu/nccl/numbers.h"
#include "ranks.h"

using namespace torchmem::vgpu::nccl;
using fake::at;
using fake::get;
using fake::put;

namespace {

int count_of(Communicator* communicator) {
  int count = 0;
  ncclCommCount(communicator, &count);
  return count;
}

int rank_of(Communicator* communicator) {
  int rank = -1;
  ncclCommUserRank(communicator, &rank);
  return rank;
}

// Which ranks of the whole are in it, in their order.
std::vector<int32_t> members(Communicator* communicator, uint64_t memory, int number) {
  put<int32_t>(memory, {number});
  ncclAllGather(at(memory), at(memory + 64), 1, int32, communicator, nullptr);
  return get<int32_t>(memory + 64, static_cast<size_t>(count_of(communicator)));
}

struct Communicators : EitherWay {};

TEST_P(Communicators, UniqueIdsAreUnique) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    UniqueId id;
    ncclGetUniqueId(&id);
    EXPECT_TRUE(seen.insert(identity_of(&id, 1).text()).second);
  }
}

TEST_P(Communicators, TwoOfTheSameRanksDoNotMix) {
  UniqueId id;
  ncclGetUniqueId(&id);
  run(2, [&](Rank& self) {
    Communicator* other = nullptr;
    ncclCommInitRankScalable(&other, 2, self.rank, 1, &id, nullptr);
    put<int32_t>(self.memory, {1, 10});
    ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, self.communicator, nullptr);
    ncclAllReduce(at(self.memory + 4), at(self.memory + 4), 1, int32, reduction_sum, other, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory, 2), (std::vector<int32_t>{2, 20}));
    ncclCommDestroy(other);
  });
}

TEST_P(Communicators, SplitByColourAndKey) {
  run(4, [](Rank& self) {
    Communicator* half = nullptr;
    // 0 and 2, 1 and 3; the later one first.
    ncclCommSplit(self.communicator, self.rank % 2, -self.rank, &half, nullptr);
    std::vector<int32_t> expected{self.rank % 2 + 2, self.rank % 2};
    EXPECT_EQ(count_of(half), 2);
    EXPECT_EQ(rank_of(half), self.rank < 2 ? 1 : 0);
    EXPECT_EQ(members(half, self.memory, self.rank), expected);
    // Equal keys: by the rank before. Again, and the whole goes on as before.
    Communicator* all = nullptr;
    ncclCommSplit(self.communicator, 7, 0, &all, nullptr);
    EXPECT_EQ(members(all, self.memory, self.rank), (std::vector<int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(members(self.communicator, self.memory, self.rank), (std::vector<int32_t>{0, 1, 2, 3}));
    // A split of a split.
    Communicator* one = nullptr;
    ncclCommSplit(half, self.rank, 0, &one, nullptr);
    EXPECT_EQ(members(one, self.memory, self.rank), std::vector<int32_t>{self.rank});
    ncclCommDestroy(one);
    ncclCommDestroy(half);
    ncclCommDestroy(all);
  });
}

TEST_P(Communicators, WhoGivesNoColourIsInNone) {
  run(3, [](Rank& self) {
    Communicator* two = self.communicator;
    ncclCommSplit(self.communicator, self.rank == 1 ? -1 : 0, self.rank, &two, nullptr);
    if (self.rank == 1) {
      EXPECT_EQ(two, nullptr);
    } else {
      EXPECT_EQ(members(two, self.memory, self.rank), (std::vector<int32_t>{0, 2}));
      ncclCommDestroy(two);
    }
  });
}

TEST_P(Communicators, TwoSplitsOfTheSameColourDoNotMix) {
  run(2, [](Rank& self) {
    Communicator *first = nullptr, *second = nullptr;
    ncclCommSplit(self.communicator, 0, self.rank, &first, nullptr);
    ncclCommSplit(self.communicator, 0, self.rank, &second, nullptr);
    put<int32_t>(self.memory, {1, 10});
    ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, first, nullptr);
    ncclAllReduce(at(self.memory + 4), at(self.memory + 4), 1, int32, reduction_sum, second, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory, 2), (std::vector<int32_t>{2, 20}));
    ncclCommDestroy(first);
    ncclCommDestroy(second);
  });
}

TEST_P(Communicators, Shrunk) {
  run(4, [](Rank& self) {
    if (self.rank == 1) return;
    int excluded[] = {1};
    Communicator* left = nullptr;
    ncclCommShrink(self.communicator, excluded, 1, &left, nullptr, 0);
    EXPECT_EQ(members(left, self.memory, self.rank), (std::vector<int32_t>{0, 2, 3}));
    ncclCommDestroy(left);
  });
}

TEST_P(Communicators, AllOfOneProcess) {
  Communicator* all[3];
  ncclCommInitAll(all, 3, nullptr);
  ncclGroupStart();
  for (uint64_t rank = 0; rank < 3; ++rank) {
    put<int32_t>(rank * 256, {static_cast<int32_t>(rank) + 1});
    ncclAllReduce(at(rank * 256), at(rank * 256), 1, int32, reduction_sum, all[rank], nullptr);
  }
  ncclGroupEnd();
  for (uint64_t rank = 0; rank < 3; ++rank) EXPECT_EQ(get<int32_t>(rank * 256, 1)[0], 6);
  for (Communicator* one : all) ncclCommDestroy(one);
}

TEST_P(Communicators, WhatWasSentIsThereAfterTheCommunicatorIsGone) {
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {self.rank + 1});
    ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, self.communicator, nullptr);
    ncclCommDestroy(self.communicator);
    self.communicator = nullptr;
    EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 3);
  });
}

INSTANTIATE_TEST_SUITE_P(Sides, Communicators, testing::Values(Side::processes, Side::threads), side_name);

}  // namespace
