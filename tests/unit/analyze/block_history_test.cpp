#include "torchmem/block_history.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "recorder.h"
#include "torchmem/breakdown.h"
#include "torchmem/run_file.h"

namespace torchmem {
namespace {

using test::MiB;
using test::Recorder;
using test::refusal;

TEST(BlockHistory, FollowsABlockFromItsBirth) {
  Recorder recorder;
  int32_t made = recorder.stack("aten::relu", "relu (ReLU)", "model.py", 4);
  int32_t saved = recorder.stack("aten::conv2d", "conv (Conv2d)", "model.py", 5);
  recorder.run.tensors.push_back({"x", "f32", {2, 3}});
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 100, 512, Category::parameters, made).tensor = 0;
  recorder.alloc(4608, 1000, 1024, Category::activations, made).saved_by = saved;
  recorder.free(4608, 1000);
  recorder.alloc(4608, 10, 512);

  BlockHistory history(recorder.run, 0);
  ASSERT_EQ(history.blocks().size(), 3u);
  const BlockLife& parameter = history.blocks()[0];
  EXPECT_EQ(parameter.address, 4096u);
  EXPECT_EQ(parameter.size, 512u);
  EXPECT_EQ(parameter.requested, 100u);
  EXPECT_EQ(parameter.born, 1u);
  EXPECT_EQ(parameter.freed, no_event);
  EXPECT_EQ(parameter.category, Category::parameters);
  EXPECT_EQ(parameter.tensor, 0);
  EXPECT_EQ(parameter.frames, made);
  EXPECT_EQ(history.ops()[parameter.op], "aten::relu");
  EXPECT_EQ(history.modules()[parameter.module], "relu");
  EXPECT_EQ(history.module_types()[parameter.module], "ReLU");
  EXPECT_EQ(history.lines()[parameter.line], "model.py:4");

  // An activation is its saver's, though its maker's frames are kept.
  const BlockLife& activation = history.blocks()[1];
  EXPECT_EQ(activation.born, 2u);
  EXPECT_EQ(activation.freed, 3u);
  EXPECT_EQ(activation.frames, made);
  EXPECT_EQ(history.ops()[activation.op], "aten::conv2d");
  EXPECT_EQ(history.modules()[activation.module], "conv");
  EXPECT_EQ(history.lines()[activation.line], "model.py:5");
  EXPECT_FALSE(activation.alive_after(2));
  EXPECT_TRUE(activation.alive_after(3));
  EXPECT_FALSE(activation.alive_after(4));

  const BlockLife& unknown = history.blocks()[2];
  EXPECT_EQ(unknown.op, 0u);
  EXPECT_EQ(unknown.module, 0u);
  EXPECT_EQ(unknown.line, 0u);
  EXPECT_EQ(history.ops()[0], "");
  EXPECT_EQ(history.modules()[0], "");
  EXPECT_EQ(history.lines()[0], "");
  EXPECT_EQ(history.events(), 6u);
  EXPECT_EQ(history.peak_events(), 3u);
  EXPECT_EQ(history.reserved_peak_events(), 1u);
}

// What was saved by nobody known belongs to who made it; only an activation goes to its saver.
TEST(BlockHistory, WhoeverMadeItOwnsTheRest) {
  Recorder recorder;
  int32_t made = recorder.stack("aten::mul");
  int32_t saved = recorder.stack("aten::tanh");
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 512, 512, Category::activations, made);
  recorder.alloc(4608, 512, 512, Category::gradients, made).saved_by = saved;
  BlockHistory history(recorder.run, 0);
  EXPECT_EQ(history.ops()[history.blocks()[0].op], "aten::mul");
  EXPECT_EQ(history.ops()[history.blocks()[1].op], "aten::mul");
}

TEST(BlockHistory, ABlockCountsUntilItsFreeIsAskedFor) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 512, 512);
  recorder.alloc(4608, 512, 512);
  recorder.event(Action::free_requested, 4096, 512);  // 3
  recorder.event(Action::snapshot, 0, 0);
  recorder.event(Action::free_completed, 4096, 512);
  recorder.event(Action::free_completed, 4608, 512);  // 6: its free_requested was left out
  recorder.alloc(4096, 100, 512);
  BlockHistory history(recorder.run, 0);
  EXPECT_EQ(history.blocks()[0].freed, 3u);
  EXPECT_EQ(history.blocks()[1].freed, 6u);
  EXPECT_EQ(history.blocks()[2].born, 7u);
}

// A block's size is the allocator's where the recorder did not say: 3 MiB and half of one within a segment of
// 4 MiB leave no rest that is split off.
TEST(BlockHistory, RestsThatAreNotSplitOffAreTheBlocks) {
  Recorder recorder;
  recorder.run.is_ours = false;
  recorder.segment(4096, 4 * MiB);
  recorder.alloc(4096, 3 * MiB + 1, 0);
  recorder.run.segments.push_back(
      {0,
       4096,
       4 * MiB,
       4 * MiB,
       4 * MiB,
       3 * MiB + 1,
       0,
       true,
       false,
       {0, 0},
       no_frames,
       {{4096, 4 * MiB, 3 * MiB + 1, Block::State::active_allocated, no_frames}}});
  BlockHistory history(recorder.run, 0);
  ASSERT_EQ(history.blocks().size(), 1u);
  EXPECT_EQ(history.blocks()[0].size, 4 * MiB);
  EXPECT_EQ(history.blocks()[0].requested, 3 * MiB + 1);
}

// A recording that began late: one block that lives on, one that is freed within it.
TEST(BlockHistory, KnowsBlocksOlderThanTheTrace) {
  Recorder recorder;
  recorder.run.is_ours = false;
  int32_t old = recorder.stack("aten::empty");
  recorder.free(6144, 1000);
  recorder.alloc(6144, 512, 0);
  Segment segment;
  segment.address = 4096;
  segment.total_size = 2 * MiB;
  segment.blocks = {{4096, 2048, 2000, Block::State::active_allocated, old},
                    {6144, 512, 512, Block::State::active_allocated, no_frames},
                    {6656, 2 * MiB - 2560, 0, Block::State::inactive, no_frames}};
  recorder.run.segments = {segment};
  recorder.run.has_segments = true;

  BlockHistory history(recorder.run, 0);
  ASSERT_EQ(history.blocks().size(), 3u);
  EXPECT_EQ(history.blocks()[0].born, no_event);
  EXPECT_EQ(history.blocks()[0].size, 2048u);
  EXPECT_EQ(history.blocks()[0].requested, 2000u);
  EXPECT_EQ(history.ops()[history.blocks()[0].op], "aten::empty");
  EXPECT_EQ(history.blocks()[0].category, Category::other);
  EXPECT_TRUE(history.blocks()[0].alive_after(0));
  EXPECT_EQ(history.blocks()[1].born, no_event);
  EXPECT_EQ(history.blocks()[1].size, 1024u);
  EXPECT_EQ(history.blocks()[1].freed, 0u);
  EXPECT_EQ(history.blocks()[2].born, 2u);
  EXPECT_EQ(history.peak_events(), 0u);
}

TEST(BlockHistory, OfASnapshotWithoutATraceIsItsEnd) {
  torchmem::Run run = read_run_file(TEST_DATA "/P21_protocol_5.pickle");
  run.traces.clear();
  BlockHistory history(run, 0);
  ASSERT_EQ(history.blocks().size(), 2u);
  EXPECT_EQ(history.blocks()[0].size + history.blocks()[1].size, 12 * MiB);
  EXPECT_EQ(history.events(), 0u);
}

TEST(BlockHistory, OfNothingIsEmpty) {
  torchmem::Run nothing;
  BlockHistory history(nothing, 3);
  EXPECT_TRUE(history.blocks().empty());
  EXPECT_EQ(history.events(), 0u);
}

TEST(BlockHistory, ATraceThatDoesNotFitTogetherIsRefused) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  recorder.free(4096, 512);
  auto [kind, message] = refusal([&] { BlockHistory(recorder.run, 0); });
  EXPECT_EQ(kind, ErrorKind::bad_input);
  EXPECT_NE(message.find("the trace does not fit together"), std::string::npos) << message;
}

// 200,000 events within half a second, and at each of them the blocks alive add up to what the allocator
// counts, by category, op, module and line.
TEST(BlockHistory, AddsUpAtEveryEvent) {
  constexpr int events = 200'000;
  constexpr uint64_t slot = 4 * 512;
  constexpr uint64_t slots = 2000;
  Recorder recorder;
  std::vector<int32_t> stacks = {no_frames, recorder.stack("aten::relu", "a (A)", "m.py", 1),
                                 recorder.stack("aten::mm", "a.b (B)", "m.py", 2)};
  std::mt19937 random(7);
  auto pick = [&](uint64_t count) { return std::uniform_int_distribution<uint64_t>(0, count - 1)(random); };
  recorder.segment(slot, slots * slot);
  // The first allocations take slot after slot, so that each slot stays a block of its own.
  std::vector<uint64_t> requested(slots);
  auto allocate = [&](uint64_t at) {
    requested[at] = slot - pick(512);
    recorder.alloc(slot * (at + 1), requested[at], slot, static_cast<Category>(pick(category_count)),
                   stacks[pick(stacks.size())]);
  };
  for (uint64_t at = 0; at < slots; ++at) allocate(at);
  while (recorder.run.traces[0].size() < events) {
    uint64_t at = pick(slots);
    recorder.free(slot * (at + 1), requested[at]);
    allocate(at);
  }

  auto start = std::chrono::steady_clock::now();
  BlockHistory history(recorder.run, 0);
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 5.0);  // of a machine that does ten other things; alone it takes 0.1

  std::vector<int64_t> change(history.events() + 1);
  for (const BlockLife& block : history.blocks()) {
    change[block.born + 1] += static_cast<int64_t>(block.size);
    if (block.freed != no_event) change[block.freed + 1] -= static_cast<int64_t>(block.size);
  }
  AllocatorState state = state_before_trace(recorder.run, 0);
  int64_t alive = 0;
  for (uint64_t i = 0; i < history.events(); ++i) {
    state.apply(recorder.run.traces[0][i]);
    alive += change[i + 1];
    ASSERT_EQ(alive, static_cast<int64_t>(state.totals().allocated)) << "after event " << i;
  }
  for (uint64_t point : {uint64_t{0}, uint64_t{1}, uint64_t{5000}, uint64_t{123'457}, history.events()}) {
    Breakdown parts = break_down(recorder.run, history, 0, {"", point, {}, {}});
    uint64_t sums[4] = {};
    for (const UsageEntry& share : parts.categories) sums[0] += share.bytes;
    for (const UsageEntry& share : parts.ops) sums[1] += share.bytes;
    for (const UsageEntry& share : parts.lines) sums[2] += share.bytes;
    for (const BlockLife* block : parts.tensors) sums[3] += block->size;
    for (uint64_t sum : sums) EXPECT_EQ(sum, parts.totals.allocated);
    EXPECT_EQ(parts.root.inclusive, parts.totals.allocated);
    uint64_t of_root = 0;
    for (uint64_t bytes : parts.root.by_category) of_root += bytes;
    EXPECT_EQ(of_root, parts.totals.allocated);
  }
}

}  // namespace
}  // namespace torchmem
