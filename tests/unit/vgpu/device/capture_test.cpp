// Streams, events, captures and graphs: which state follows which, and what a graph does when it is launched.
#include <gtest/gtest.h>

#include <vector>

#include "assumptions.h"
#include "core.h"
#include "values.h"

namespace torchmem::vgpu {
namespace {

constexpr size_t test_bytes = 64;

class Capture : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(tmv_stream_create(0, 0, 0, &stream_), success);
    ASSERT_EQ(tmv_stream_create(0, 0, 0, &other_), success);
    ASSERT_EQ(tmv_event_create(0, &event_), success);
    ASSERT_EQ(tmv_malloc(0, test_bytes, &memory_), success);
  }
  void TearDown() override {
    EXPECT_EQ(tmv_captures(), 0u);
    EXPECT_EQ(tmv_free(memory_), success);
    EXPECT_EQ(tmv_event_destroy(event_), success);
    EXPECT_EQ(tmv_stream_destroy(other_), success);
    EXPECT_EQ(tmv_stream_destroy(stream_), success);
  }

  int status_of(void* stream) {
    CaptureInfo info;
    EXPECT_EQ(tmv_capture_info(stream, &info), success);
    return info.status;
  }
  // What the device's first byte is; -1 where nobody knows.
  int byte() {
    unsigned char read = 0;
    return tmv_value_peek(memory_, 1, &read) == tmv_value_known ? read : -1;
  }
  void* ended(void* stream) {
    void* graph = nullptr;
    EXPECT_EQ(tmv_capture_end(stream, &graph), success);
    return graph;
  }
  void* made(void* graph) {
    void* executable = nullptr;
    EXPECT_EQ(tmv_graph_instantiate(graph, &executable), success);
    return executable;
  }

  void* stream_ = nullptr;
  void* other_ = nullptr;
  void* event_ = nullptr;
  uint64_t memory_ = 0;
};

TEST_F(Capture, BeginsAndEndsOnce) {
  void* graph = nullptr;
  EXPECT_EQ(tmv_capture_end(stream_, &graph), illegal_state);
  EXPECT_EQ(status_of(stream_), 0);
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_capture_begin(stream_, 0), illegal_state);
  EXPECT_EQ(status_of(stream_), 1);
  EXPECT_EQ(status_of(other_), 0);
  EXPECT_TRUE(tmv_is_captured(stream_));
  graph = ended(stream_);
  EXPECT_NE(graph, nullptr);
  EXPECT_EQ(status_of(stream_), 0);
  EXPECT_EQ(tmv_capture_end(stream_, &graph), illegal_state);
}

TEST_F(Capture, IsOfAStreamOfOnesOwn) {
  int no_stream = 0;
  EXPECT_EQ(tmv_capture_begin(nullptr, 0), capture_unsupported);
  EXPECT_EQ(tmv_capture_begin(&no_stream, 0), invalid_handle);
  EXPECT_EQ(tmv_stream_destroy(&no_stream), invalid_handle);
}

TEST_F(Capture, TwoAtOnceAreApart) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_capture_begin(other_, 0), success);
  EXPECT_EQ(tmv_captures(), 2u);
  CaptureInfo first, second;
  EXPECT_EQ(tmv_capture_info(stream_, &first), success);
  EXPECT_EQ(tmv_capture_info(other_, &second), success);
  EXPECT_NE(first.id, second.id);
  EXPECT_NE(first.graph, second.graph);
  tmv_launched(other_);
  EXPECT_EQ(tmv_graph_nodes(ended(stream_)), 0u);
  EXPECT_EQ(tmv_graph_nodes(ended(other_)), 1u);
}

TEST_F(Capture, SynchronizingLosesIt) {
  for (bool whole_device : {false, true}) {
    EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
    EXPECT_EQ(tmv_stream_sync(other_), success) << "another stream";
    EXPECT_EQ(status_of(stream_), 1);
    EXPECT_EQ(whole_device ? tmv_device_sync() : tmv_stream_sync(stream_), capture_unsupported);
    EXPECT_EQ(status_of(stream_), 2);
    void* graph = this;
    EXPECT_EQ(tmv_capture_end(stream_, &graph), capture_invalidated);
    EXPECT_EQ(graph, nullptr);
  }
  EXPECT_EQ(tmv_stream_sync(stream_), success);
}

TEST_F(Capture, NodesAreWhatTheRuntimeHas) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  tmv_launched(stream_);
  tmv_launched(stream_);
  tmv_launched(other_);  // not captured
  EXPECT_EQ(tmv_fill_on(stream_, memory_, 1, test_bytes), success);
  EXPECT_EQ(tmv_copy_on(stream_, reinterpret_cast<void*>(memory_), "a", 1), success);
  void* graph = ended(stream_);
  EXPECT_EQ(tmv_graph_nodes(graph), 4u);
  EXPECT_EQ(tmv_graph_destroy(graph), success);
  EXPECT_EQ(tmv_graph_destroy(graph), invalid_value);
  EXPECT_EQ(tmv_graph_nodes(graph), 0u);
}

TEST_F(Capture, WorkIsDoneAtEachLaunchAndNotBefore) {
  unsigned char source = 5;
  EXPECT_EQ(tmv_fill(memory_, 9, test_bytes), success);
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_copy_on(stream_, reinterpret_cast<void*>(memory_), &source, 1), success);
  EXPECT_EQ(byte(), 9);
  void* executable = made(ended(stream_));
  EXPECT_EQ(byte(), 9);
  for (unsigned char now : {6, 7}) {
    source = now;
    EXPECT_TRUE(tmv_graph_launch(executable));
    EXPECT_EQ(byte(), now) << "the source as it is at the launch";
  }
  EXPECT_EQ(tmv_graph_exec_destroy(executable), success);
  EXPECT_FALSE(tmv_graph_launch(executable));
  EXPECT_EQ(tmv_graph_exec_destroy(executable), invalid_value);
}

TEST_F(Capture, WorkIsDoneInOrder) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  for (int value : {1, 2, 3}) EXPECT_EQ(tmv_fill_on(stream_, memory_, value, test_bytes), success);
  void* executable = made(ended(stream_));
  EXPECT_TRUE(tmv_graph_launch(executable));
  EXPECT_EQ(byte(), 3);
  EXPECT_EQ(tmv_graph_exec_destroy(executable), success);
}

TEST_F(Capture, WhatIsNotCapturedIsDoneAtOnce) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_fill_on(other_, memory_, 4, test_bytes), success);
  EXPECT_EQ(byte(), 4);
  ended(stream_);
}

TEST_F(Capture, ExecutableOutlivesItsGraph) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_fill_on(stream_, memory_, 8, test_bytes), success);
  void* graph = ended(stream_);
  void* executable = made(graph);
  EXPECT_EQ(tmv_graph_destroy(graph), success);
  EXPECT_TRUE(tmv_graph_launch(executable));
  EXPECT_EQ(byte(), 8);
  EXPECT_EQ(tmv_graph_exec_destroy(executable), success);
  EXPECT_EQ(tmv_graph_instantiate(graph, &executable), invalid_value);
}

TEST_F(Capture, AStreamThatJoinsIsCapturedToo) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_event_record(event_, stream_), success);
  EXPECT_EQ(tmv_stream_wait(other_, event_), success);
  EXPECT_TRUE(tmv_is_captured(other_));
  tmv_launched(other_);
  void* graph = nullptr;
  EXPECT_EQ(tmv_capture_end(other_, &graph), capture_unmatched);
  EXPECT_EQ(status_of(stream_), 1) << "it goes on";
  EXPECT_EQ(tmv_event_record(event_, other_), success);
  EXPECT_EQ(tmv_stream_wait(stream_, event_), success);
  graph = ended(stream_);
  EXPECT_EQ(tmv_graph_nodes(graph), 1u);
  EXPECT_FALSE(tmv_is_captured(other_));
}

TEST_F(Capture, AStreamThatDoesNotComeBackSpoilsIt) {
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_EQ(tmv_event_record(event_, stream_), success);
  EXPECT_EQ(tmv_stream_wait(other_, event_), success);
  void* graph = this;
  EXPECT_EQ(tmv_capture_end(stream_, &graph), capture_unjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_FALSE(tmv_is_captured(other_));
  // The event was the lost capture's: it draws nobody in any more.
  EXPECT_EQ(tmv_stream_wait(other_, event_), success);
  EXPECT_FALSE(tmv_is_captured(other_));
}

struct Told {
  std::vector<int> launched, dropped;
};

TEST_F(Capture, WorkOfTheObserverIsDroppedWithTheLastOfItsGraph) {
  Told told;
  tmv_observer observer{};
  observer.user = &told;
  observer.launched = [](void* user, void* work) {
    static_cast<Told*>(user)->launched.push_back(*static_cast<int*>(work));
  };
  observer.dropped = [](void* user, void* work) {
    static_cast<Told*>(user)->dropped.push_back(*static_cast<int*>(work));
  };
  tmv_set_observer(&observer);
  int first = 1, second = 2;
  EXPECT_FALSE(tmv_capture_work(stream_, &second)) << "nothing is captured";
  EXPECT_EQ(told.dropped, std::vector{2});
  EXPECT_EQ(tmv_capture_begin(stream_, 0), success);
  EXPECT_TRUE(tmv_capture_work(stream_, &first));
  void* graph = ended(stream_);
  EXPECT_EQ(tmv_graph_nodes(graph), 0u) << "the runtime has no such node";
  void* executable = made(graph);
  EXPECT_TRUE(tmv_graph_launch(executable));
  EXPECT_TRUE(tmv_graph_launch(executable));
  EXPECT_EQ(told.launched, (std::vector{1, 1}));
  EXPECT_EQ(tmv_graph_destroy(graph), success);
  EXPECT_EQ(told.dropped, std::vector{2});
  EXPECT_EQ(tmv_graph_exec_destroy(executable), success);
  EXPECT_EQ(told.dropped, (std::vector{2, 1}));
  tmv_set_observer(nullptr);
}

TEST_F(Capture, ModeIsExchanged) {
  EXPECT_EQ(tmv_capture_mode_exchange(2), 0);
  EXPECT_EQ(tmv_capture_mode_exchange(0), 2);
}

TEST(Events, TimeIsBetweenTwoThatWereRecorded) {
  void *start = nullptr, *end = nullptr, *untimed = nullptr;
  ASSERT_EQ(tmv_event_create(0, &start), success);
  ASSERT_EQ(tmv_event_create(0, &end), success);
  ASSERT_EQ(tmv_event_create(2, &untimed), success);  // cudaEventDisableTiming
  float milliseconds = -1;
  EXPECT_EQ(tmv_event_record(start, nullptr), success);
  EXPECT_EQ(tmv_event_elapsed(&milliseconds, start, end), invalid_handle) << "the end was not recorded";
  EXPECT_EQ(tmv_event_record(end, nullptr), success);
  EXPECT_EQ(tmv_event_record(untimed, nullptr), success);
  EXPECT_EQ(tmv_event_elapsed(&milliseconds, start, untimed), invalid_handle);
  EXPECT_EQ(tmv_event_elapsed(nullptr, start, end), invalid_value);
  EXPECT_EQ(tmv_event_elapsed(&milliseconds, start, end), success);
  EXPECT_GE(milliseconds, 0);
  for (void* event : {start, end, untimed}) {
    EXPECT_EQ(tmv_event_query(event), success);
    EXPECT_EQ(tmv_event_destroy(event), success);
    EXPECT_EQ(tmv_event_query(event), invalid_handle);
  }
}

TEST(Streams, KeepWhatTheyWereMadeWith) {
  void* stream = nullptr;
  EXPECT_EQ(tmv_stream_create(2, 0, 0, &stream), invalid_device);
  EXPECT_EQ(tmv_stream_create(1, -3, 0, &stream), success);
  int priority = 0, device = 0;
  EXPECT_EQ(tmv_stream_priority(stream, &priority), success);
  EXPECT_EQ(tmv_stream_device(stream, &device), success);
  EXPECT_EQ(priority, -3);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(tmv_stream_device(nullptr, &device), success);
  EXPECT_EQ(device, tmv_current_device());
  EXPECT_EQ(tmv_stream_destroy(stream), success);
  EXPECT_EQ(tmv_stream_priority(stream, &priority), invalid_handle);
}

}  // namespace
}  // namespace torchmem::vgpu
