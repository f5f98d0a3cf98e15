#include "torchmem/growth.h"

#include <gtest/gtest.h>

#include "recorder.h"
#include "torchmem/block_history.h"

namespace torchmem {
namespace {

using test::KiB;
using test::MiB;
using test::Recorder;

// Iterations that may keep something. Each block has a segment of its own.
class Loop {
 public:
  Loop() {
    kept_ = recorder.stack("aten::tanh", "keep (Keep)", "model.py", 9);
    gone_ = recorder.stack("aten::mul", "", "model.py", 8);
    add(1000, 1024, Category::parameters, gone_);
    recorder.phase("load");
  }

  // Where the block is.
  uint64_t add(uint64_t requested, uint64_t block, Category category, int32_t stack) {
    uint64_t address = next_;
    next_ += 2 * MiB;
    recorder.segment(address, 2 * MiB);
    recorder.alloc(address, requested, block, category, stack);
    return address;
  }

  // Keeps `kept` bytes from its forward, replaces what it holds for the next one, and frees a temporary.
  void iteration(uint64_t kept, uint64_t held = 0) {
    recorder.phase("input", number_);
    uint64_t temporary = add(2048, 2048, Category::temporaries, gone_);
    if (kept > 0) add(kept, rounded(kept), Category::outputs, kept_);
    recorder.free(temporary, 2048);
    recorder.phase("forward", number_);
    if (held_size_ > 0) recorder.free(held_, held_size_);
    held_size_ = held;
    if (held > 0) held_ = add(held, rounded(held), Category::gradients, gone_);
    recorder.phase("backward", number_++);
  }

  std::optional<Growth> growth() {
    history_.emplace(recorder.run, 0);
    return find_growth(recorder.run, *history_, 0);
  }

  const BlockHistory& history() const { return *history_; }

  Recorder recorder;
  int32_t kept_ = no_frames;
  int32_t gone_ = no_frames;

 private:
  static uint64_t rounded(uint64_t size) { return (size + 511) / 512 * 512; }

  int64_t number_ = 0;
  uint64_t next_ = MiB;
  uint64_t held_ = 0;
  uint64_t held_size_ = 0;
  std::optional<BlockHistory> history_;
};

TEST(Growth, OfWhatEachIterationKeeps) {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.iteration(100 * KiB + 1, 512);
  std::optional<Growth> growth = loop.growth();
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->bytes_per_iteration, 100 * KiB + 512);
  EXPECT_EQ(growth->first_iteration, 1);
  EXPECT_EQ(growth->phase, "forward");
  ASSERT_EQ(growth->categories.size(), 1u);
  EXPECT_EQ(growth->categories[0].name, "outputs");
  EXPECT_EQ(growth->categories[0].bytes, 100 * KiB + 512);
  EXPECT_EQ(growth->categories[0].requested, 100 * KiB + 1);
  EXPECT_EQ(growth->categories[0].blocks, 1u);
  ASSERT_EQ(growth->ops.size(), 1u);
  EXPECT_EQ(growth->ops[0].name, "aten::tanh");
  ASSERT_EQ(growth->modules.size(), 1u);
  EXPECT_EQ(growth->modules[0].name, "keep");
  ASSERT_EQ(growth->lines.size(), 1u);
  EXPECT_EQ(growth->lines[0].name, "model.py:9");
  ASSERT_EQ(growth->blocks.size(), 1u);
  EXPECT_EQ(growth->blocks[0],
            &loop.history().blocks().back() - 1);  // the last iteration's, before what it holds
}

TEST(Growth, WarmUpIsNone) {
  Loop loop;
  loop.iteration(MiB);
  for (int i = 0; i < 3; ++i) loop.iteration(0);
  EXPECT_FALSE(loop.growth());
}

TEST(Growth, WhatIsReplacedIsNone) {
  Loop loop;
  for (int i = 0; i < 4; ++i) loop.iteration(0, 4096);
  EXPECT_FALSE(loop.growth());
}

TEST(Growth, OnceIsNone) {
  Loop loop;
  for (uint64_t kept : {0, 0, 0, 4096}) loop.iteration(kept);
  EXPECT_FALSE(loop.growth());
}

TEST(Growth, MayBeginLater) {
  Loop loop;
  for (uint64_t kept : {0, 0, 4096, 4096}) loop.iteration(kept);
  std::optional<Growth> growth = loop.growth();
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->bytes_per_iteration, 4096u);
  EXPECT_EQ(growth->first_iteration, 2);
}

TEST(Growth, TakesTwoIterations) {
  Loop loop;
  EXPECT_FALSE(loop.growth());
  loop.iteration(4096);
  EXPECT_FALSE(loop.growth());
  loop.iteration(4096);
  ASSERT_TRUE(loop.growth());
  EXPECT_EQ(loop.growth()->bytes_per_iteration, 4096u);
}

// A block's rest that was not split off is no growth, and the same tensors in blocks of other sizes neither.
TEST(Growth, RestsAreNone) {
  Loop loop;
  uint64_t address = loop.add(4000, 4096, Category::other, no_frames);
  loop.recorder.phase("forward", 0);
  loop.recorder.free(address, 4000);
  loop.recorder.alloc(address, 4000, 8192);
  loop.recorder.phase("forward", 1);
  EXPECT_FALSE(loop.growth());
}

// The run was stopped in its third iteration, after the input that the others release.
TEST(Growth, AnIterationThatDidNotEndDoesNotCount) {
  Loop loop;
  loop.iteration(0);
  loop.iteration(0);
  loop.add(4096, 4096, Category::inputs, loop.gone_);
  loop.recorder.phase("input", 2);
  EXPECT_FALSE(loop.growth());

  Loop grows;
  for (int i = 0; i < 3; ++i) grows.iteration(1024);
  grows.add(4096, 4096, Category::inputs, grows.gone_);
  grows.recorder.phase("input", 3);
  std::optional<Growth> growth = grows.growth();
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->bytes_per_iteration, 1024u);
}

TEST(Growth, OfOneOwnerWhileAnotherShrinks) {
  Loop loop;
  loop.iteration(4096, 3072);
  loop.iteration(4096, 2048);
  std::optional<Growth> growth = loop.growth();
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->bytes_per_iteration, 4096u);
  ASSERT_EQ(growth->categories.size(), 1u);
}

TEST(Growth, ARunWithoutPhasesHasNone) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 512, 512);
  BlockHistory history(recorder.run, 0);
  EXPECT_FALSE(find_growth(recorder.run, history, 0));
}

}  // namespace
}  // namespace torchmem
