// Sends and receives.
#include <cstdint>

#include "../../../src/vgpu/nccl/numbers.h"
#include "ranks.h"

using namespace torchmem::vgpu::nccl;
using fake::at;
using fake::get;
using fake::put;

namespace {

struct PointToPoint : EitherWay {};

TEST_P(PointToPoint, EverySizeAndTypeArrivesAsItWasSent) {
  run(2, [](Rank& self) {
    for (int type = int8; type <= float8e5m2; ++type) {
      for (size_t count : {1u, 3u, 1000u}) {
        std::vector<unsigned char> sent(count * element_bytes(type));
        for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<unsigned char>(i * 7 + count);
        if (self.rank == 0) {
          put(self.memory, sent);
          ncclSend(at(self.memory), count, type, 1, self.communicator, nullptr);
        } else {
          ncclRecv(at(self.memory), count, type, 0, self.communicator, nullptr);
          EXPECT_EQ(get<unsigned char>(self.memory, sent.size()), sent) << type << " " << count;
        }
      }
    }
  });
}

TEST_P(PointToPoint, EveryPairCountsItsOwn) {
  run(3, [](Rank& self) {
    for (int turn = 0; turn < 4; ++turn) {
      for (int peer = 0; peer < 3; ++peer) {
        if (peer == self.rank || (turn + peer + self.rank) % 2) continue;
        put<int32_t>(self.memory, {self.rank * 100 + peer * 10 + turn});
        ncclSend(at(self.memory), 1, int32, peer, self.communicator, nullptr);
      }
    }
    for (int peer = 2; peer >= 0; --peer) {
      for (int turn = 0; turn < 4; ++turn) {
        if (peer == self.rank || (turn + peer + self.rank) % 2) continue;
        ncclRecv(at(self.memory + 4), 1, int32, peer, self.communicator, nullptr);
        EXPECT_EQ(get<int32_t>(self.memory + 4, 1)[0], peer * 100 + self.rank * 10 + turn);
      }
    }
  });
}

// Each sends what it has only after it received: in one group that is no circle.
TEST_P(PointToPoint, AGroupInWhichEveryoneReceivesFirst) {
  run(4, [](Rank& self) {
    put<int64_t>(self.memory, {self.rank});
    int next = (self.rank + 1) % 4, previous = (self.rank + 3) % 4;
    ncclGroupStart();
    ncclRecv(at(self.memory + 8), 1, int64, previous, self.communicator, nullptr);
    ncclSend(at(self.memory), 1, int64, next, self.communicator, nullptr);
    ncclRecv(at(self.memory + 16), 1, int64, self.rank, self.communicator, nullptr);
    ncclSend(at(self.memory), 1, int64, self.rank, self.communicator, nullptr);
    ncclGroupEnd();
    EXPECT_EQ(get<int64_t>(self.memory + 8, 2), (std::vector<int64_t>{previous, self.rank}));
  });
}

// What a group sends is what was there before it received anything.
TEST_P(PointToPoint, AnExchangeInOneBuffer) {
  run(2, [](Rank& self) {
    put<int64_t>(self.memory, {self.rank});
    ncclGroupStart();
    ncclRecv(at(self.memory), 1, int64, 1 - self.rank, self.communicator, nullptr);
    ncclSend(at(self.memory), 1, int64, 1 - self.rank, self.communicator, nullptr);
    ncclGroupEnd();
    EXPECT_EQ(get<int64_t>(self.memory, 1)[0], 1 - self.rank);
  });
}

TEST_P(PointToPoint, AllToAllOfUnequalSizes) {
  run(3, [](Rank& self) {
    auto size = [](int sender, int receiver) { return static_cast<size_t>(sender * 3 + receiver + 1); };
    uint64_t in = self.memory, out = self.memory + 4096;
    ncclGroupStart();
    for (int peer = 0; peer < 3; ++peer, in += 256, out += 256) {
      put(in, std::vector<int32_t>(size(self.rank, peer), self.rank * 10 + peer));
      ncclSend(at(in), size(self.rank, peer), int32, peer, self.communicator, nullptr);
      ncclRecv(at(out), size(peer, self.rank), int32, peer, self.communicator, nullptr);
    }
    ncclGroupEnd();
    for (int peer = 0; peer < 3; ++peer)
      EXPECT_EQ(get<int32_t>(self.memory + 4096 + static_cast<uint64_t>(peer) * 256, size(peer, self.rank)),
                std::vector<int32_t>(size(peer, self.rank), peer * 10 + self.rank));
  });
}

TEST_P(PointToPoint, UnknownArrivesAsUnknownAndLargeOnesDoNotTravel) {
  run(2, [](Rank& self) {
    constexpr size_t large = (size_t{1} << 20) + 1;
    if (self.rank == 0) {
      ncclSend(at(self.memory), 4, int32, 1, self.communicator, nullptr);
      ncclSend(at(self.memory), large, int8, 1, self.communicator, nullptr);
      put<int32_t>(self.memory, {5}, tmv_value_assumed);
      ncclSend(at(self.memory), 1, int32, 1, self.communicator, nullptr);
    } else {
      put<int32_t>(self.memory, {1, 2, 3, 4});
      ncclRecv(at(self.memory), 4, int32, 0, self.communicator, nullptr);
      EXPECT_EQ(fake::state(self.memory, 16), tmv_value_unknown);
      put<int32_t>(self.memory, {1});
      ncclRecv(at(self.memory), large, int8, 0, self.communicator, nullptr);
      EXPECT_EQ(fake::state(self.memory, 4), tmv_value_unknown);
      ncclRecv(at(self.memory), 1, int32, 0, self.communicator, nullptr);
      EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 5);
      EXPECT_EQ(fake::state(self.memory, 4), tmv_value_assumed);
    }
  });
}

// What was received is sent on, without anybody having read it.
TEST_P(PointToPoint, PassedOn) {
  run(4, [](Rank& self) {
    if (self.rank == 0) put<int32_t>(self.memory, {42});
    if (self.rank > 0) ncclRecv(at(self.memory), 1, int32, self.rank - 1, self.communicator, nullptr);
    if (self.rank < 3) ncclSend(at(self.memory), 1, int32, self.rank + 1, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 42);
  });
}

TEST_P(PointToPoint, NothingOfNothing) {
  run(2, [](Rank& self) {
    if (self.rank == 0) {
      ncclSend(at(self.memory), 0, int32, 1, self.communicator, nullptr);
      put<int32_t>(self.memory, {3});
      ncclSend(at(self.memory), 1, int32, 1, self.communicator, nullptr);
    } else {
      ncclRecv(at(self.memory), 0, int32, 0, self.communicator, nullptr);
      ncclRecv(at(self.memory), 1, int32, 0, self.communicator, nullptr);
      EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 3);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sides, PointToPoint, testing::Values(Side::processes, Side::threads), side_name);

}  // namespace
