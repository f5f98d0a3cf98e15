#include "../../../src/vgpu/device/pending.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "../../../src/vgpu/device/values.h"

namespace torchmem::vgpu {
namespace {

// What the device core does with it: bytes with a state, under a lock.
struct Device {
  Mutex mutex;
  std::map<uint64_t, unsigned char> bytes;
  Pending pending;

  static void keep(void* user, uint64_t address, const void* bytes, size_t size, int state) {
    auto* from = static_cast<const unsigned char*>(bytes);
    for (size_t i = 0; i < size; ++i) {
      if (state != tmv_value_unknown) static_cast<Device*>(user)->bytes[address + i] = from[i];
    }
  }
  Pending::Destination destination() { return {&mutex, keep, this}; }
  void write(uint64_t address, unsigned char byte, size_t size) {
    pending.drop(address, size);
    mutex.lock();
    for (size_t i = 0; i < size; ++i) bytes[address + i] = byte;
    mutex.unlock();
  }
  int read(uint64_t address) {
    pending.settle(address, 1, destination());
    mutex.lock();
    auto found = bytes.find(address);
    int byte = found == bytes.end() ? -1 : found->second;
    mutex.unlock();
    return byte;
  }
};

// A value of one byte again and again.
struct Sent {
  unsigned char byte = 0;
  size_t size = 0;
  int state = tmv_value_known;
  std::atomic<int> resolved{0};
  std::atomic<int> released{0};
  void (*meanwhile)(Sent&) = nullptr;
  Device* device = nullptr;
  static constexpr size_t none = ~size_t{0};
  size_t unknown_at = none;

  static void resolve(void* what, void* to, unsigned char* states) {
    auto& sent = *static_cast<Sent*>(what);
    EXPECT_EQ(sent.released, 0);
    ++sent.resolved;
    std::memset(to, sent.byte, sent.size);
    if (sent.meanwhile) sent.meanwhile(sent);
    std::memset(states, sent.state, sent.size);
    if (sent.unknown_at != none) states[sent.unknown_at] = tmv_value_unknown;
  }
  static void release(void* what) { ++static_cast<Sent*>(what)->released; }
  Pending::Arrival arrival() { return {resolve, release, this}; }
};

struct PendingTest : testing::Test {
  Device device;
  void add(uint64_t address, Sent& sent, size_t size) {
    sent.size = size;
    sent.device = &device;
    device.pending.add(address, size, sent.arrival());
  }
};

TEST_F(PendingTest, IsResolvedOnceByTheFirstRead) {
  Sent sent{7};
  add(100, sent, 10);
  EXPECT_EQ(device.read(99), -1);
  EXPECT_EQ(device.read(110), -1);
  EXPECT_EQ(sent.resolved, 0);
  EXPECT_TRUE(device.pending.waits(109, 1));
  EXPECT_EQ(device.read(109), 7);
  EXPECT_FALSE(device.pending.waits(100, 10));
  EXPECT_EQ(device.read(100), 7);
  EXPECT_EQ(sent.resolved, 1);
  EXPECT_EQ(sent.released, 1);
}

TEST_F(PendingTest, UnknownStaysUnknown) {
  Sent sent{7};
  sent.state = tmv_value_unknown;
  add(100, sent, 10);
  EXPECT_EQ(device.read(100), -1);
  EXPECT_EQ(sent.released, 1);
}

TEST_F(PendingTest, EachByteHasItsState) {
  Sent sent{7};
  sent.unknown_at = 3;
  add(100, sent, 10);
  EXPECT_EQ(device.read(102), 7);
  EXPECT_EQ(device.read(103), -1);
  EXPECT_EQ(device.read(104), 7);
}

TEST_F(PendingTest, WhatWasWrittenOverIsNotResolved) {
  Sent sent{7};
  add(100, sent, 10);
  device.write(95, 1, 20);
  EXPECT_EQ(sent.released, 1);
  EXPECT_EQ(device.read(105), 1);
  EXPECT_EQ(sent.resolved, 0);
}

TEST_F(PendingTest, AWriteInTheMiddleStays) {
  Sent sent{7};
  add(100, sent, 10);
  device.write(103, 1, 2);
  EXPECT_EQ(sent.released, 0);
  EXPECT_EQ(device.read(104), 1);
  EXPECT_EQ(sent.resolved, 0);
  EXPECT_EQ(device.read(105), 7);
  EXPECT_EQ(device.read(102), 7);
  EXPECT_EQ(device.read(103), 1);
  EXPECT_EQ(sent.resolved, 1);
  EXPECT_EQ(sent.released, 1);
}

TEST_F(PendingTest, WritesThatCoverItBitByBitReleaseIt) {
  Sent sent{7};
  add(100, sent, 10);
  device.write(100, 1, 4);
  device.write(106, 1, 4);
  EXPECT_EQ(sent.released, 0);
  device.write(104, 1, 2);
  EXPECT_EQ(sent.released, 1);
  EXPECT_EQ(sent.resolved, 0);
}

TEST_F(PendingTest, ALaterArrivalTakesThePlaceOfAnEarlierOne) {
  Sent first{1}, second{2}, third{3};
  add(100, first, 10);
  add(105, second, 10);
  EXPECT_EQ(device.read(104), 1);
  EXPECT_EQ(device.read(105), 2);
  Sent fourth{4};
  add(100, third, 10);
  add(100, fourth, 10);
  EXPECT_EQ(device.read(100), 4);
  EXPECT_EQ(third.resolved, 0);
  EXPECT_EQ(third.released, 1);
}

TEST_F(PendingTest, AReadOfSeveralResolvesAll) {
  Sent first{1}, second{2};
  add(100, first, 10);
  add(120, second, 10);
  device.pending.settle(90, 100, device.destination());
  EXPECT_EQ(first.resolved, 1);
  EXPECT_EQ(second.resolved, 1);
}

TEST_F(PendingTest, AWriteWhileItIsResolvedWins) {
  Sent sent{7};
  sent.meanwhile = [](Sent& being) { being.device->write(100, 1, 5); };
  add(100, sent, 10);
  EXPECT_EQ(device.read(100), 1);
  EXPECT_EQ(device.read(104), 1);
  EXPECT_EQ(device.read(105), 7);
}

TEST_F(PendingTest, AWriteOfAllWhileItIsResolvedDoesNotReleaseItEarly) {
  Sent sent{7};
  sent.meanwhile = [](Sent& being) {
    being.device->write(100, 1, 10);
    EXPECT_EQ(being.released, 0);
  };
  add(100, sent, 10);
  EXPECT_EQ(device.read(100), 1);
  EXPECT_EQ(sent.released, 1);
}

TEST_F(PendingTest, WhoResolvesMayReadTheRange) {
  Sent sent{7};
  sent.meanwhile = [](Sent& being) { EXPECT_EQ(being.device->read(100), -1); };
  add(100, sent, 10);
  EXPECT_EQ(device.read(100), 7);
}

TEST_F(PendingTest, AnotherThreadWaitsForTheOneThatResolves) {
  static std::atomic<bool> go;
  go = false;
  Sent sent{7};
  sent.meanwhile = [](Sent&) {
    while (!go) usleep(100);
  };
  add(100, sent, 10);
  std::vector<std::thread> readers;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) readers.emplace_back([&] { right += device.read(101) == 7; });
  usleep(20000);
  EXPECT_EQ(right, 0);
  go = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(sent.resolved, 1);
  EXPECT_EQ(sent.released, 1);
}

TEST_F(PendingTest, AForkedChildDoesNotWaitForAThreadOfItsParent) {
  static std::atomic<bool> go;
  go = false;
  Sent sent{7};
  sent.meanwhile = [](Sent&) {
    while (!go) usleep(100);
  };
  add(100, sent, 10);
  std::thread reader([&] { EXPECT_EQ(device.read(100), 7); });
  while (sent.resolved == 0) usleep(100);
  pid_t child = fork();
  if (child == 0) _exit(device.read(100) == -1 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  go = true;
  reader.join();
}

TEST_F(PendingTest, NothingIsReleasedTwiceUnderWritersAndReaders) {
  constexpr int arrivals = 2000;
  std::vector<Sent> sent(arrivals);
  std::atomic<bool> ended{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 2; ++i)
    others.emplace_back([&, i] {
      for (unsigned n = 0; !ended; ++n)
        i ? device.write(100 + n % 60, 1, 9) : (void)device.read(100 + n % 64);
    });
  for (int i = 0; i < arrivals; ++i) add(100 + static_cast<uint64_t>(i * 7 % 50), sent[i], 10);
  ended = true;
  for (std::thread& other : others) other.join();
  device.pending.drop(0, 1000);
  for (const Sent& one : sent) {
    EXPECT_EQ(one.released, 1);
    EXPECT_LE(one.resolved, 1);
  }
}

TEST_F(PendingTest, NothingIsWaitedForInAnEmptyRange) {
  Sent sent{7};
  add(100, sent, 0);
  EXPECT_EQ(sent.released, 1);
  add(100, sent, 10);
  device.pending.drop(105, 0);
  device.pending.settle(105, 0, device.destination());
  EXPECT_EQ(sent.resolved, 0);
  device.pending.drop(100, 10);
}

}  // namespace
}  // namespace torchmem::vgpu
