#include "torchmem/allocator_state.h"

#include <gtest/gtest.h>

#include "torchmem/run_file.h"

namespace torchmem {
namespace {

constexpr uint64_t MiB = 1 << 20;
constexpr uint64_t base = 0x7f0000000000;

Event event(Action action, uint64_t address, uint64_t size, uint64_t block_size = 0) {
  Event result;
  result.action = action;
  result.address = address;
  result.size = size;
  result.block_size = block_size;
  return result;
}

// Every sum is that of its parts, and blocks leave no hole.
void expect_consistent(const AllocatorState& state) {
  AllocatorTotals sums;
  for (const Segment& segment : state.segments()) {
    uint64_t address = segment.address;
    bool last_inactive = false;
    for (const Block& block : segment.blocks) {
      EXPECT_EQ(block.address, address);
      address += block.size;
      bool inactive = block.state == Block::State::inactive;
      EXPECT_FALSE(inactive && last_inactive) << "inactive neighbours did not merge";
      last_inactive = inactive;
      if (inactive && segment.blocks.size() > 1 && !segment.is_expandable) sums.inactive_split += block.size;
    }
    EXPECT_EQ(address, segment.address + segment.total_size);
    sums.reserved += segment.total_size;
    sums.active += segment.active_size;
    sums.allocated += segment.allocated_size;
    sums.requested += segment.requested_size;
  }
  EXPECT_EQ(sums.reserved, state.totals().reserved);
  EXPECT_EQ(sums.active, state.totals().active);
  EXPECT_EQ(sums.allocated, state.totals().allocated);
  EXPECT_EQ(sums.requested, state.totals().requested);
  EXPECT_EQ(sums.inactive_split, state.totals().inactive_split);
}

class AllocatorStateTest : public testing::Test {
 protected:
  void apply(Action action, uint64_t address, uint64_t size, uint64_t block_size = 0) {
    state.apply(event(action, address, size, block_size));
    expect_consistent(state);
  }
  void free(uint64_t address, uint64_t size) {
    apply(Action::free_requested, address, size);
    apply(Action::free_completed, address, size);
  }
  std::vector<Block> blocks(size_t segment = 0) { return state.segments().at(segment).blocks; }

  AllocatorRules rules;
  AllocatorState state{0, rules};
};

TEST_F(AllocatorStateTest, SmallBlocksAreSplitAndMerged) {
  apply(Action::segment_alloc, base, 2 * MiB);
  EXPECT_EQ(state.totals().inactive_split, 0u);  // a whole free segment can be released
  apply(Action::alloc, base, 100);
  apply(Action::alloc, base + 512, 600);
  EXPECT_FALSE(state.segments()[0].is_large);
  ASSERT_EQ(blocks().size(), 3u);
  EXPECT_EQ(blocks()[1].size, 1024u);
  EXPECT_EQ(blocks()[1].requested_size, 600u);
  EXPECT_EQ(state.totals().requested, 700u);
  EXPECT_EQ(state.totals().allocated, 1536u);
  EXPECT_EQ(state.totals().inactive_split, 2 * MiB - 1536);
  free(base, 100);
  EXPECT_EQ(blocks().size(), 3u);
  free(base + 512, 600);
  ASSERT_EQ(blocks().size(), 1u);
  EXPECT_EQ(blocks()[0].requested_size, 600u);  // stale, of the block freed last
  EXPECT_EQ(state.totals().inactive_split, 0u);
  apply(Action::segment_free, base, 2 * MiB);
  EXPECT_TRUE(state.segments().empty());
}

TEST_F(AllocatorStateTest, ARestOfAtMostOneMiBStaysWithALargeBlock) {
  apply(Action::segment_alloc, base, 20 * MiB);
  apply(Action::alloc, base, 19 * MiB);
  ASSERT_EQ(blocks().size(), 1u);
  EXPECT_EQ(blocks()[0].size, 20 * MiB);
  EXPECT_TRUE(state.segments()[0].is_large);
  free(base, 19 * MiB);
  apply(Action::alloc, base, 19 * MiB - 512);
  EXPECT_EQ(blocks().size(), 2u);
}

TEST_F(AllocatorStateTest, TheRecordedBlockSizeCounts) {
  apply(Action::segment_alloc, base, 20 * MiB);
  apply(Action::alloc, base, 2 * MiB, 3 * MiB);
  EXPECT_EQ(blocks()[0].size, 3 * MiB);
  EXPECT_EQ(state.totals().requested, 2 * MiB);
}

TEST_F(AllocatorStateTest, ABlockThatAStreamUsesStaysActive) {
  apply(Action::segment_alloc, base, 20 * MiB);
  apply(Action::alloc, base, 4 * MiB);
  apply(Action::alloc, base + 4 * MiB, 4 * MiB);
  apply(Action::free_requested, base, 4 * MiB);
  EXPECT_EQ(blocks()[0].state, Block::State::active_pending_free);
  EXPECT_EQ(state.totals().allocated, 4 * MiB);
  EXPECT_EQ(state.totals().active, 8 * MiB);
  free(base + 4 * MiB, 4 * MiB);
  EXPECT_EQ(blocks()[0].state, Block::State::active_pending_free);
  apply(Action::free_completed, base, 4 * MiB);
  EXPECT_EQ(blocks().size(), 1u);
}

TEST_F(AllocatorStateTest, ExpandableSegmentsGrowAndShrink) {
  apply(Action::segment_map, base, 20 * MiB);
  apply(Action::alloc, base, 19 * MiB, 19 * MiB);
  apply(Action::segment_map, base + 20 * MiB, 20 * MiB);
  ASSERT_EQ(state.segments().size(), 1u);
  EXPECT_TRUE(state.segments()[0].is_expandable);
  ASSERT_EQ(blocks().size(), 2u);
  EXPECT_EQ(blocks()[1].size, 21 * MiB);  // the mapped range joined the free rest
  apply(Action::alloc, base + 19 * MiB, 10 * MiB, 10 * MiB);
  free(base, 19 * MiB);
  apply(Action::segment_unmap, base, 18 * MiB);
  ASSERT_EQ(state.segments().size(), 1u);
  EXPECT_EQ(state.segments()[0].address, base + 18 * MiB);
  EXPECT_EQ(blocks()[0].size, 1 * MiB);
  apply(Action::segment_unmap, base + 32 * MiB, 2 * MiB);  // out of the middle of the free end
  ASSERT_EQ(state.segments().size(), 2u);
  EXPECT_EQ(state.segments()[1].total_size, 6 * MiB);
  apply(Action::segment_map, base + 32 * MiB, 2 * MiB);
  EXPECT_EQ(state.segments().size(), 1u);
  EXPECT_EQ(state.totals().reserved, 22 * MiB);
  EXPECT_EQ(state.totals().inactive_split, 0u);
}

TEST_F(AllocatorStateTest, NeighbouringSegmentsDoNotMerge) {
  apply(Action::segment_alloc, base, 2 * MiB);
  apply(Action::segment_alloc, base + 2 * MiB, 2 * MiB);
  EXPECT_EQ(state.segments().size(), 2u);
}

TEST_F(AllocatorStateTest, WhatCannotBeIsRefusedAndChangesNothing) {
  apply(Action::segment_alloc, base, 2 * MiB);
  apply(Action::alloc, base, 512);
  for (const Event& bad :
       {event(Action::alloc, base, 512), event(Action::alloc, base + 100, 512),
        event(Action::alloc, base + 512, 4 * MiB), event(Action::alloc, base + 8 * MiB, 1),
        event(Action::free_requested, base + 512, 512), event(Action::free_completed, base + 600, 1),
        event(Action::segment_free, base, 2 * MiB), event(Action::segment_alloc, base - MiB, 2 * MiB),
        event(Action::segment_alloc, base + MiB, 2 * MiB), event(Action::segment_unmap, base, MiB),
        event(Action::segment_unmap, base + MiB, 2 * MiB)}) {
    EXPECT_THROW(state.apply(bad), Error)
        << name_of(bad.action) << " " << bad.address - base << " " << bad.size;
    expect_consistent(state);
  }
  EXPECT_EQ(blocks().size(), 2u);
}

TEST(AllocatorRules, Rounding) {
  AllocatorRules rules;
  EXPECT_EQ(rules.round_size(1), 512u);
  EXPECT_EQ(rules.round_size(512), 512u);
  EXPECT_EQ(rules.round_size(513), 1024u);
  // Four divisions between powers of two, as in PyTorch's documentation: 1200 becomes 1280.
  for (uint64_t& divisions : rules.roundup_power2_divisions) divisions = 4;
  EXPECT_EQ(rules.round_size(1200), 1536u);  // at most 512 x 4: rounded to 512 only
  EXPECT_EQ(rules.round_size(1200 * MiB), 1280 * MiB);
  EXPECT_EQ(rules.round_size(1024 * MiB), 1024 * MiB);
}

TEST(AllocatorRules, FromSettings) {
  AllocatorRules rules =
      AllocatorRules::from_settings({{"max_split_size", 20971520},
                                     {"expandable_segments", true},
                                     {"roundup_power2_divisions", {{"1", 2}, {"32768", 8}}}});
  EXPECT_EQ(rules.max_split_size, 20971520u);
  EXPECT_TRUE(rules.expandable_segments);
  EXPECT_EQ(rules.roundup_power2_divisions[0], 2u);
  EXPECT_EQ(rules.roundup_power2_divisions[15], 8u);
  EXPECT_EQ(AllocatorRules::from_settings({{"max_split_size", -1}}).max_split_size, UINT64_MAX);
  EXPECT_EQ(AllocatorRules::from_settings(nullptr).max_split_size, UINT64_MAX);
}

// The real allocator's final segments are what its trace leads to.
void expect_rebuilt(const std::string& file) {
  torchmem::Run run = read_run_file(file);
  std::vector<Segment> rebuilt = state_after(run, 0, UINT64_MAX).segments();
  ASSERT_EQ(rebuilt.size(), run.segments.size());
  std::vector<Segment> expected = run.segments;
  std::sort(expected.begin(), expected.end(), [](auto& a, auto& b) { return a.address < b.address; });
  for (size_t i = 0; i < rebuilt.size(); ++i) {
    EXPECT_EQ(rebuilt[i].address, expected[i].address);
    EXPECT_EQ(rebuilt[i].total_size, expected[i].total_size);
    EXPECT_EQ(rebuilt[i].allocated_size, expected[i].allocated_size);
    EXPECT_EQ(rebuilt[i].active_size, expected[i].active_size);
    EXPECT_EQ(rebuilt[i].requested_size, expected[i].requested_size);
    EXPECT_EQ(rebuilt[i].is_large, expected[i].is_large);
    ASSERT_EQ(rebuilt[i].blocks.size(), expected[i].blocks.size()) << "segment " << i;
    for (size_t j = 0; j < rebuilt[i].blocks.size(); ++j) {
      EXPECT_EQ(rebuilt[i].blocks[j].address, expected[i].blocks[j].address);
      EXPECT_EQ(rebuilt[i].blocks[j].size, expected[i].blocks[j].size);
      EXPECT_EQ(rebuilt[i].blocks[j].state, expected[i].blocks[j].state);
      if (expected[i].blocks[j].state == Block::State::inactive) continue;
      EXPECT_EQ(rebuilt[i].blocks[j].requested_size, expected[i].blocks[j].requested_size);
    }
  }
}

TEST(Rebuild, LeadsToTheFinalSegments) {
  expect_rebuilt(TEST_DATA "/P19.pickle");
  expect_rebuilt(TEST_DATA "/P21_protocol_2.pickle");
}

// A history that lost its beginning: the state before it is told from the end.
TEST(Rebuild, ATraceThatBeganLate) {
  torchmem::Run whole = read_run_file(TEST_DATA "/P21_protocol_2.pickle");
  for (uint64_t lost = 0; lost <= whole.traces[0].size(); ++lost) {
    AllocatorState before = state_after(whole, 0, lost);
    torchmem::Run late = whole;
    late.traces[0].erase(late.traces[0].begin(), late.traces[0].begin() + static_cast<ptrdiff_t>(lost));
    AllocatorState told = state_before_trace(late, 0);
    expect_consistent(told);
    EXPECT_EQ(told.totals().reserved, before.totals().reserved) << lost;
    EXPECT_EQ(told.totals().allocated, before.totals().allocated) << lost;
    AllocatorState end = state_after(late, 0, UINT64_MAX);
    EXPECT_EQ(end.totals().allocated, 12582912u) << lost;
  }
}

TEST(Rebuild, SegmentsOfAProcessThatDied) {
  torchmem::Run run;
  run.is_ours = true;
  run.traces.push_back({event(Action::segment_alloc, base, 2 * MiB), event(Action::alloc, base, 512, 512)});
  complete_segments(run);
  ASSERT_EQ(run.segments.size(), 1u);
  EXPECT_EQ(run.segments[0].allocated_size, 512u);
}

}  // namespace
}  // namespace torchmem
