// Every collective with every type against a plain reference.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>

#include "../../../src/vgpu/nccl/numbers.h"
#include "ranks.h"

using namespace torchmem::vgpu::nccl;
using fake::at;
using fake::get;
using fake::put;

namespace {

constexpr uint64_t from = 0x1000, to = 0x100000;
constexpr size_t count = 5;

// A float's upper half, and a small whole number as a half: nothing that the code under test does.
uint16_t bfloat(int value) {
  auto wide = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &wide, sizeof bits);
  return static_cast<uint16_t>(bits >> 16);
}
uint16_t half(int value) {
  if (value == 0) return 0;
  int exponent = 0;
  while (value >> (exponent + 1)) ++exponent;
  return static_cast<uint16_t>((exponent + 15) << 10 | ((value << 10 >> exponent) & 1023));
}

// The bytes of a small whole number in a type.
std::vector<unsigned char> number(int value, int type) {
  auto bytes_of = [](auto typed) {
    std::vector<unsigned char> bytes(sizeof typed);
    std::memcpy(bytes.data(), &typed, sizeof typed);
    return bytes;
  };
  switch (type) {
    case int8:
    case uint8:
      return bytes_of(static_cast<int8_t>(value));
    case int32:
    case uint32:
      return bytes_of(value);
    case int64:
    case uint64:
      return bytes_of(static_cast<int64_t>(value));
    case float16:
      return bytes_of(half(value));
    case float32:
      return bytes_of(static_cast<float>(value));
    case float64:
      return bytes_of(static_cast<double>(value));
    default:
      return bytes_of(bfloat(value));
  }
}

std::vector<unsigned char> numbers(const std::vector<int>& values, int type) {
  std::vector<unsigned char> all;
  for (int value : values) {
    std::vector<unsigned char> bytes = number(value, type);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

// What a rank has at an index; no two ranks the same. Sums are divisible by 2, for averages of two.
int value_of(int rank, size_t index) { return 2 * static_cast<int>(index % 3) + 2 * rank + 2; }

std::vector<int> values_of(int rank, size_t begin, size_t number_of) {
  std::vector<int> values(number_of);
  for (size_t i = 0; i < number_of; ++i) values[i] = value_of(rank, begin + i);
  return values;
}

int combined(int kind, int ranks, size_t index) {
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(value_of(rank, index));
  switch (kind) {
    case reduction_sum:
      return std::accumulate(all.begin(), all.end(), 0);
    case reduction_product:
      return std::accumulate(all.begin(), all.end(), 1, std::multiplies<>());
    case reduction_max:
      return *std::max_element(all.begin(), all.end());
    case reduction_min:
      return *std::min_element(all.begin(), all.end());
    default:
      return std::accumulate(all.begin(), all.end(), 0) / ranks;
  }
}

std::vector<int> combined(int kind, int ranks, size_t begin, size_t number_of) {
  std::vector<int> values(number_of);
  for (size_t i = 0; i < number_of; ++i) values[i] = combined(kind, ranks, begin + i);
  return values;
}

constexpr int all_types[] = {int8, uint8, int32, uint32, int64, uint64, float16, float32, float64, bfloat16};

struct Collectives : EitherWay {
  // Every type and reduction, with this rank's values at from; then what is to be there after.
  template <class Call, class Expected>
  void check_reductions(int ranks, size_t given, size_t gotten, Call call, Expected expected) {
    run(ranks, [&](Rank& self) {
      for (int type : all_types) {
        for (int kind = reduction_sum; kind <= reduction_average; ++kind) {
          std::vector<unsigned char> values = numbers(values_of(self.rank, 0, given), type);
          put(self.memory + from, values);
          ASSERT_EQ(call(self, at(self.memory + from), at(self.memory + to), type, kind), 0);
          size_t bytes = gotten * element_bytes(type);
          int state = 0;
          auto result = get<unsigned char>(self.memory + to, bytes, &state);
          std::vector<int> wanted = expected(self, kind);
          if (wanted.empty()) {
            EXPECT_EQ(state, tmv_value_unknown);
            continue;
          }
          EXPECT_EQ(result, numbers(wanted, type))
              << "rank " << self.rank << " type " << type << " kind " << kind;
          EXPECT_EQ(state, tmv_value_known);
        }
      }
    });
  }
};

TEST_P(Collectives, AllReduce) {
  for (int ranks : {1, 2, 4}) {
    check_reductions(
        ranks, count, count,
        [](Rank& self, void* source, void* target, int type, int kind) {
          return ncclAllReduce(source, target, count, type, kind, self.communicator, nullptr);
        },
        [](Rank& self, int kind) { return combined(kind, self.ranks, 0, count); });
  }
}

TEST_P(Collectives, Reduce) {
  check_reductions(
      3, count, count,
      [](Rank& self, void* source, void* target, int type, int kind) {
        return ncclReduce(source, target, count, type, kind, 2, self.communicator, nullptr);
      },
      [](Rank& self, int kind) {
        return self.rank == 2 ? combined(kind, self.ranks, 0, count) : std::vector<int>();
      });
}

TEST_P(Collectives, ReduceScatter) {
  check_reductions(
      2, count * 2, count,
      [](Rank& self, void* source, void* target, int type, int kind) {
        return ncclReduceScatter(source, target, count, type, kind, self.communicator, nullptr);
      },
      [](Rank& self, int kind) {
        return combined(kind, self.ranks, count * static_cast<size_t>(self.rank), count);
      });
}

TEST_P(Collectives, InPlaceAndInTurn) {
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {1 + self.rank});
    for (int turn = 0; turn < 5; ++turn)
      ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory, 1)[0], 3 * 16);
  });
}

TEST_P(Collectives, Broadcast) {
  run(3, [](Rank& self) {
    for (int root = 0; root < 3; ++root) {
      put<int64_t>(self.memory + from, {self.rank * 10, root});
      put<int64_t>(self.memory + to, {-1, -1});
      ncclBroadcast(at(self.memory + from), at(self.memory + to), 2, int64, root, self.communicator, nullptr);
      EXPECT_EQ(get<int64_t>(self.memory + to, 2), (std::vector<int64_t>{root * 10, root}));
      put<int64_t>(self.memory + from, {self.rank * 10, root});
      ncclBcast(at(self.memory + from), 2, int64, root, self.communicator, nullptr);
      EXPECT_EQ(get<int64_t>(self.memory + from, 2), (std::vector<int64_t>{root * 10, root}));
    }
  });
}

TEST_P(Collectives, AllGather) {
  run(4, [](Rank& self) {
    put<int32_t>(self.memory + from, values_of(self.rank, 0, 2));
    ncclAllGather(at(self.memory + from), at(self.memory + to), 2, int32, self.communicator, nullptr);
    int state = 0;
    auto all = get<int32_t>(self.memory + to, 8, &state);
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(std::vector<int32_t>(all.begin() + rank * 2, all.begin() + rank * 2 + 2),
                values_of(rank, 0, 2));
    EXPECT_EQ(state, tmv_value_known);
    EXPECT_EQ(fake::counted_values(), 0u);
  });
}

TEST_P(Collectives, AllGatherInPlace) {
  run(2, [](Rank& self) {
    uint64_t mine = self.memory + to + static_cast<uint64_t>(self.rank) * 4;
    put<int32_t>(mine, {self.rank + 5});
    ncclAllGather(at(mine), at(self.memory + to), 1, int32, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory + to, 2), (std::vector<int32_t>{5, 6}));
  });
}

TEST_P(Collectives, AllToAll) {
  run(3, [](Rank& self) {
    put<int32_t>(self.memory + from, {self.rank * 10, self.rank * 10 + 1, self.rank * 10 + 2});
    ncclAlltoAll(at(self.memory + from), at(self.memory + to), 1, int32, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory + to, 3),
              (std::vector<int32_t>{self.rank, 10 + self.rank, 20 + self.rank}));
  });
}

TEST_P(Collectives, GatherAndScatter) {
  run(3, [](Rank& self) {
    put<int32_t>(self.memory + from, {self.rank + 1});
    ncclGather(at(self.memory + from), at(self.memory + to), 1, int32, 1, self.communicator, nullptr);
    if (self.rank == 1) {
      EXPECT_EQ(get<int32_t>(self.memory + to, 3), (std::vector<int32_t>{1, 2, 3}));
    }
    put<int32_t>(self.memory + from, {7, 8, 9});
    ncclScatter(at(self.memory + from), at(self.memory + to), 1, int32, 1, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(self.memory + to, 1)[0], 7 + self.rank);
  });
}

TEST_P(Collectives, PreMultipliedSum) {
  run(2, [](Rank& self) {
    float scalar = self.rank == 0 ? 0.5f : 2.0f;
    int kind = 0;
    if (self.rank == 0) {
      ncclRedOpCreatePreMulSum(&kind, &scalar, float32, 1, self.communicator);
    } else {
      put<float>(self.memory + 8, {scalar});
      ncclRedOpCreatePreMulSum(&kind, at(self.memory + 8), float32, 0, self.communicator);
    }
    EXPECT_GE(kind, 5);
    put<float>(self.memory + from, {4, 6});
    ncclGroupStart();
    ncclAllReduce(at(self.memory + from), at(self.memory + to), 2, float32, kind, self.communicator, nullptr);
    ncclRedOpDestroy(kind, self.communicator);
    ncclGroupEnd();
    EXPECT_EQ(get<float>(self.memory + to, 2), (std::vector<float>{10, 15}));
  });
}

TEST_P(Collectives, OneRankAloneGetsItsOwn) {
  run(1, [](Rank& self) {
    put<float>(self.memory + from, {1, 2});
    ncclReduceScatter(at(self.memory + from), at(self.memory + to), 2, float32, reduction_sum,
                      self.communicator, nullptr);
    EXPECT_EQ(get<float>(self.memory + to, 2), (std::vector<float>{1, 2}));
    ncclAlltoAll(at(self.memory + from), at(self.memory + to + 64), 2, float32, self.communicator, nullptr);
    EXPECT_EQ(get<float>(self.memory + to + 64, 2), (std::vector<float>{1, 2}));
  });
}

TEST_P(Collectives, TheWorstStateIsTheResults) {
  run(3, [](Rank& self) {
    uint64_t here = self.memory + from, there = self.memory + to;
    put<float>(here, {1}, self.rank == 1 ? tmv_value_assumed : tmv_value_known);
    ncclAllReduce(at(here), at(there), 1, float32, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<float>(there, 1)[0], 3);
    EXPECT_EQ(fake::state(there, 4), tmv_value_assumed);
    if (self.rank == 2) tmv_written(here, 4);
    ncclAllReduce(at(here), at(there), 1, float32, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(fake::state(there, 4), tmv_value_unknown);
    ncclAllGather(at(here), at(there), 1, float32, self.communicator, nullptr);
    EXPECT_EQ(fake::state(there, 4), tmv_value_known);
    EXPECT_EQ(fake::state(there + 4, 4), tmv_value_assumed);
    EXPECT_EQ(fake::state(there + 8, 4), tmv_value_unknown);
  });
}

// An object in a buffer that is larger than it: the rest is not known, and the object arrives.
TEST_P(Collectives, EveryByteHasItsState) {
  run(2, [](Rank& self) {
    uint64_t here = self.memory + from, there = self.memory + to;
    tmv_written(here, 8);
    put<uint8_t>(here, std::vector<uint8_t>(self.rank == 0 ? 3 : 5, static_cast<uint8_t>(self.rank + 1)));
    ncclAllGather(at(here), at(there), 8, uint8, self.communicator, nullptr);
    EXPECT_EQ(get<uint8_t>(there, 16),
              (std::vector<uint8_t>{1, 1, 1, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2, 0, 0, 0}));
    EXPECT_EQ(fake::state(there, 3), tmv_value_known);
    EXPECT_EQ(fake::state(there + 3, 1), tmv_value_unknown);
    EXPECT_EQ(fake::state(there + 8, 5), tmv_value_known);
    EXPECT_EQ(fake::state(there + 13, 1), tmv_value_unknown);
    ncclAllReduce(at(here), at(there), 4, uint8, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<uint8_t>(there, 3), (std::vector<uint8_t>{3, 3, 3}));
    EXPECT_EQ(fake::state(there, 3), tmv_value_known);
    EXPECT_EQ(fake::state(there + 3, 1), tmv_value_unknown);
    // A number of which a byte is not known is not known.
    put<int32_t>(here, {1, 2});
    tmv_written(here + 1, 1);
    ncclAllReduce(at(here), at(there), 2, int32, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<int32_t>(there + 4, 1)[0], 4);
    EXPECT_EQ(fake::state(there + 4, 4), tmv_value_known);
    for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(fake::state(there + i, 1), tmv_value_unknown);
    if (self.rank == 0) {
      ncclSend(at(here), 2, int32, 1, self.communicator, nullptr);
    } else {
      ncclRecv(at(there), 2, int32, 0, self.communicator, nullptr);
      EXPECT_EQ(fake::state(there, 1), tmv_value_known);
      EXPECT_EQ(fake::state(there + 1, 1), tmv_value_unknown);
      EXPECT_EQ(get<int32_t>(there + 4, 1)[0], 2);
    }
  });
}

// The largest that travels, and one more.
TEST_P(Collectives, LargeOnesDoNotTravel) {
  run(2, [](Rank& self) {
    constexpr size_t most = size_t{1} << 20;
    put(self.memory + from, std::vector<uint8_t>(most + 1, static_cast<uint8_t>(self.rank + 1)));
    uint64_t there = self.memory + (1u << 24);
    ncclAllReduce(at(self.memory + from), at(there), most, uint8, reduction_sum, self.communicator, nullptr);
    EXPECT_EQ(get<uint8_t>(there, most), std::vector<uint8_t>(most, 3));
    ncclAllReduce(at(self.memory + from), at(there), most + 1, uint8, reduction_sum, self.communicator,
                  nullptr);
    EXPECT_FALSE(fake::waits(there, 1));
    EXPECT_EQ(fake::state(there, 1), tmv_value_unknown);
    ncclAllReduce(at(self.memory + from), at(there), most + 1, uint8, reduction_max, self.communicator,
                  nullptr);
    EXPECT_EQ(get<uint8_t>(there, 1)[0], self.rank + 1);
    ncclAllGather(at(self.memory + from), at(there), most / 2 + 1, uint8, self.communicator, nullptr);
    EXPECT_FALSE(fake::waits(there, 2));
  });
}

// Nobody waits when it calls: one rank alone does all its calls before the other starts.
TEST_P(Collectives, NothingWaitsBeforeItIsRead) {
  UniqueId id;
  ncclGetUniqueId(&id);
  Communicator* ranks[2];
  setenv("TORCHMEM_NCCL_WAIT_MS", "100000", 1);
  for (int rank = 0; rank < 2; ++rank) {
    uint64_t memory = static_cast<uint64_t>(rank + 1) << 32;
    ncclCommInitRank(&ranks[rank], 2, id, rank);
    for (uint64_t i = 0; i < 10; ++i) {
      put<int32_t>(memory + i * 4, {static_cast<int>(i) + rank});
      ncclAllReduce(at(memory + i * 4), at(memory + 64 + i * 4), 1, int32, reduction_sum, ranks[rank],
                    nullptr);
    }
  }
  for (uint64_t rank = 0; rank < 2; ++rank)
    for (uint64_t i = 10; i-- > 0;)
      EXPECT_EQ(get<int32_t>(((rank + 1) << 32) + 64 + i * 4, 1)[0], static_cast<int>(2 * i + 1));
  for (Communicator* rank : ranks) ncclCommDestroy(rank);
}

// Who synchronizes with the stream waits until all ranks have begun what it has, though nobody reads.
TEST_P(Collectives, ABarrier) {
  static std::atomic<int>* arrived = static_cast<std::atomic<int>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  *arrived = 0;
  run(3, [](Rank& self) {
    for (int turn = 1; turn <= 3; ++turn) {
      void* stream = at(self.memory + static_cast<uint64_t>(turn % 2));
      usleep(static_cast<useconds_t>(self.rank) * 30000);
      ++*arrived;
      ncclAllReduce(at(self.memory), at(self.memory), 1, float32, reduction_sum, self.communicator, stream);
      fake::synchronize(stream);
      EXPECT_GE(*arrived, 3 * turn);
    }
  });
}

TEST_P(Collectives, AGroupOfSeveral) {
  run(2, [](Rank& self) {
    put<int32_t>(self.memory, {self.rank + 1, self.rank + 10, self.rank});
    ncclGroupStart();
    ncclGroupStart();
    ncclAllReduce(at(self.memory), at(self.memory), 1, int32, reduction_sum, self.communicator, nullptr);
    ncclGroupEnd();
    EXPECT_FALSE(fake::waits(self.memory, 12));
    ncclBcast(at(self.memory + 4), 1, int32, 1, self.communicator, nullptr);
    ncclAllReduce(at(self.memory + 8), at(self.memory + 8), 1, int32, reduction_max, self.communicator,
                  nullptr);
    ncclGroupEnd();
    EXPECT_EQ(get<int32_t>(self.memory, 3), (std::vector<int32_t>{3, 11, 1}));
  });
  EXPECT_NE(ncclGroupEnd(), 0);
}

INSTANTIATE_TEST_SUITE_P(Sides, Collectives, testing::Values(Side::processes, Side::threads), side_name);

}  // namespace
