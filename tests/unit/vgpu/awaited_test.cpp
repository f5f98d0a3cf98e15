#include "../../../src/vgpu/device/awaited.h"

#include <gtest/gtest.h>

#include <string>

namespace torchmem::vgpu {
namespace {

struct AwaitedTest : testing::Test {
  Awaited awaited;
  std::string waited, released;  // by letter
  struct Letter {
    AwaitedTest* test;
    char letter;
  };
  int streams[3] = {}, events[3] = {}, keys[3] = {};

  void add(int stream, int key, char letter) {
    awaited.add(&streams[stream], &keys[key],
                {[](void* what) {
                   auto* one = static_cast<Letter*>(what);
                   one->test->waited += one->letter;
                 },
                 [](void* what) {
                   auto* one = static_cast<Letter*>(what);
                   one->test->released += one->letter;
                   delete one;
                 },
                 new Letter{this, letter}});
  }
};

TEST_F(AwaitedTest, AStreamWaitsForItsOwnWorkOnce) {
  add(0, 0, 'a');
  add(1, 1, 'b');
  awaited.synchronize(&streams[0]);
  awaited.synchronize(&streams[0]);
  EXPECT_EQ(waited, "a");
  EXPECT_EQ(released, "a");
  awaited.synchronize(&streams[1]);
  EXPECT_EQ(waited, "ab");
}

TEST_F(AwaitedTest, EventsCarryWorkToOtherStreams) {
  add(0, 0, 'a');
  awaited.record(&events[0], &streams[0]);
  add(0, 1, 'b');
  awaited.wait(&streams[1], &events[0]);
  awaited.synchronize(&streams[1]);
  EXPECT_EQ(waited, "a");
  awaited.record(&events[1], &streams[0]);
  awaited.synchronize(&events[1]);
  EXPECT_EQ(waited, "ab");
  awaited.synchronize(&streams[0]);
  awaited.synchronize(&events[0]);
  EXPECT_EQ(waited, "ab");
}

TEST_F(AwaitedTest, LaterWorkOfAKeyTakesThePlaceOfEarlier) {
  add(0, 0, 'a');
  awaited.record(&events[0], &streams[0]);
  add(0, 0, 'b');
  EXPECT_EQ(released, "");  // the event has it
  awaited.wait(&streams[0], &events[0]);
  awaited.synchronize(&streams[0]);
  EXPECT_EQ(waited, "b");
  awaited.forget(&events[0]);
  EXPECT_EQ(released, "ba");
}

TEST_F(AwaitedTest, AnEventRecordedAgainForgets) {
  add(0, 0, 'a');
  awaited.record(&events[0], &streams[0]);
  awaited.record(&events[0], &streams[1]);
  awaited.synchronize(&events[0]);
  EXPECT_EQ(waited, "");
  awaited.forget(&streams[0]);
  EXPECT_EQ(released, "a");
}

TEST_F(AwaitedTest, TheDeviceWaitsForAll) {
  add(0, 0, 'a');
  add(1, 1, 'b');
  awaited.record(&events[0], &streams[1]);
  awaited.synchronize();
  EXPECT_EQ(waited.size(), 2u);
  EXPECT_EQ(released.size(), 2u);
  awaited.synchronize();
  EXPECT_EQ(waited.size(), 2u);
}

}  // namespace
}  // namespace torchmem::vgpu
