#include "vgpu/device/address_space.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace torchmem::vgpu {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;
using Event = AddressSpace::ModuleEvent;

// One step of a recorded run: an allocation of `size` MiB that came to lie at `address` MiB from the anchor,
// or what happened.
struct Step {
  int64_t address = 0;
  uint64_t size = 0;
  std::optional<Event> event = std::nullopt;
};
Step happened(Event event) { return {0, 0, event}; }

void expect_addresses(const std::vector<Step>& steps) {
  const AddressSpace::Layout layout;
  AddressSpace space(layout);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].event) {
      space.reserve_modules(*steps[i].event);
      continue;
    }
    const uint64_t address = space.allocate(steps[i].size * mib);
    const int64_t distance = static_cast<int64_t>(address - layout.anchor) / static_cast<int64_t>(mib);
    EXPECT_EQ(distance, steps[i].address) << "step " << i << " of " << steps[i].size << " MiB";
  }
}

TEST(AddressSpace, PlacesALoadedModelAsTheDriverDid) {  // the segments of a ResNet-50's parameters
  expect_addresses({{0, 2},
                    {74, 2},
                    {76, 2},
                    {78, 2},
                    {-446, 20},
                    {-426, 2},
                    {-424, 2},
                    {-422, 2},
                    {-420, 2},
                    {-418, 2},
                    {-478, 20},
                    {-510, 20},
                    {-542, 20},
                    {-574, 20},
                    {-606, 20}});
}

TEST(AddressSpace, PlacesAUnetsSegmentsAsTheDriverDid) {
  expect_addresses({{0, 2},
                    {74, 20},
                    {-446, 32},
                    happened(Event::convolution_plan),
                    happened(Event::convolution_kernel),
                    {-414, 32},
                    {-382, 32},
                    {-468, 16},
                    {-350, 16},
                    {-334, 16},
                    {-318, 32},
                    {-286, 50},
                    {-236, 64},
                    happened(Event::dropout),
                    {-162, 64},
                    {-98, 72}});
}

TEST(AddressSpace, PutsAConvolutionsWorkspaceBelowTheLibrarysImages) {  // a ResNet-50's first steps
  expect_addresses({{0, 2},
                    {74, 2},
                    {76, 2},
                    {78, 2},
                    {-446, 20},
                    {-426, 2},
                    {-424, 2},
                    {-422, 2},
                    {-420, 2},
                    {-418, 2},
                    {-478, 20},
                    {-510, 20},
                    {-542, 20},
                    {-574, 20},
                    {-606, 20},
                    {-734, 98},
                    happened(Event::convolution_plan),
                    {-1214, 118},
                    happened(Event::convolution_kernel),
                    {-414, 26},
                    {-388, 50},
                    {-338, 26},
                    {-312, 26},
                    {-286, 26},
                    {-260, 26},
                    {-234, 98},
                    {-136, 98}});
}

TEST(AddressSpace, GivesTheCublasHandleTheLowestHole) {  // a BERT's first layer
  expect_addresses({{0, 2},
                    {74, 20},
                    happened(Event::device_assert),
                    {-414, 20},
                    happened(Event::cublas_handle),
                    {-330, 32},
                    {-298, 20},
                    {-278, 20}});
}

TEST(AddressSpace,
     GivesAnEmptyRangeBackToTheProcess) {  // a GPT-2: nothing shares the old local memory's range
  expect_addresses({{-574, 148},
                    {74, 20},
                    {-426, 2},
                    happened(Event::device_assert),
                    {-30, 20},
                    {-62, 18},
                    happened(Event::cublas_handle),
                    {-158, 32},
                    {-190, 18},
                    {-222, 24}});
}

TEST(AddressSpace, CountsAnEventOnce) {
  AddressSpace space;
  space.reserve_modules(Event::cublas_handle);
  const uint64_t first = space.allocate(32 * mib);
  space.reserve_modules(Event::cublas_handle);
  EXPECT_EQ(space.allocate(32 * mib), first - 32 * mib);
}

TEST(AddressSpace, ReusesTheLowestHoleAndJoinsNeighbours) {
  AddressSpace space;
  std::vector<uint64_t> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(space.allocate(40 * mib));  // a range of 64 MiB each
  EXPECT_EQ(blocks[1], blocks[0] - 64 * mib);
  const uint64_t low = space.allocate(6 * mib);
  EXPECT_EQ(low, blocks[3] + 40 * mib);
  const uint64_t next = space.allocate(6 * mib);
  EXPECT_EQ(next, low + 6 * mib);
  EXPECT_TRUE(space.free(low));
  EXPECT_EQ(space.allocate(8 * mib), next + 6 * mib);
  EXPECT_TRUE(space.free(next));
  EXPECT_EQ(space.allocate(12 * mib), low);
}

TEST(AddressSpace, SmallBlocksShareAGranule) {
  AddressSpace space;
  const uint64_t first = space.allocate(1);
  const uint64_t second = space.allocate(513);
  const uint64_t third = space.allocate(512 * 1024);
  EXPECT_EQ(second, first + 512);
  EXPECT_EQ(third, second + 1024);
  EXPECT_EQ(first / (2 * mib), third / (2 * mib));
  EXPECT_NE(space.allocate(mib) / (2 * mib), first / (2 * mib));
  EXPECT_TRUE(space.free(second));
  EXPECT_EQ(space.allocate(1000), second);
}

TEST(AddressSpace, TellsWhatLiesAtAnAddress) {
  AddressSpace space;
  const uint64_t address = space.allocate(3 * mib + 5);
  EXPECT_EQ(space.size_of(address), 3 * mib + 5);
  EXPECT_EQ(space.size_of(address + 1), 0u);
  const auto range = space.find(address + 3 * mib + 4);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->address, address);
  EXPECT_EQ(range->bytes, 3 * mib + 5);
  EXPECT_FALSE(space.find(address + 3 * mib + 5).has_value());
  EXPECT_FALSE(space.find(address - 1).has_value());
  EXPECT_FALSE(space.free(address + 512));
  EXPECT_TRUE(space.free(address));
  EXPECT_FALSE(space.free(address));
  EXPECT_FALSE(space.find(address).has_value());
}

TEST(AddressSpace, ReservesAddressSpaceAlone) {
  AddressSpace space;
  const uint64_t big = space.reserve(uint64_t{160} << 30, 0);
  ASSERT_NE(big, 0u);
  const uint64_t aligned = space.reserve(2 * mib, uint64_t{1} << 30);
  EXPECT_EQ(aligned % (uint64_t{1} << 30), 0u);
  EXPECT_TRUE(space.find(big + (uint64_t{1} << 30)).has_value());
  EXPECT_FALSE(space.free(big));
  EXPECT_TRUE(space.release(big));
  EXPECT_FALSE(space.release(big));
  EXPECT_EQ(space.reserve(uint64_t{160} << 30, 0), big);
}

TEST(AddressSpace, RefusesWhatCannotFit) {
  AddressSpace::Layout layout;
  layout.span = 256 * mib;
  AddressSpace space(layout);
  EXPECT_EQ(space.allocate(0), 0u);
  EXPECT_EQ(space.allocate(UINT64_MAX), 0u);
  EXPECT_EQ(space.allocate(512 * mib), 0u);
  const uint64_t block = space.allocate(200 * mib);
  EXPECT_NE(block, 0u);
  EXPECT_EQ(space.allocate(200 * mib), 0u);
  EXPECT_TRUE(space.free(block));
  EXPECT_EQ(space.allocate(200 * mib), block);
  EXPECT_EQ(space.reserve(512 * mib, 0), 0u);
}

TEST(AddressSpace, NeverOverlapsAndReturnsToItsFirstState) {
  std::mt19937 random(7);
  AddressSpace space;
  std::map<uint64_t, uint64_t> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 5 < 3) {
      const uint64_t bytes = random() % 3 == 0 ? 1 + random() % (2 * mib) : (1 + random() % 200) * mib;
      const uint64_t address = space.allocate(bytes);
      ASSERT_NE(address, 0u);
      const auto next = live.lower_bound(address);
      ASSERT_TRUE(next == live.end() || address + bytes <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= address);
      live[address] = bytes;
    } else {
      auto victim = live.lower_bound(live.begin()->first + (uint64_t{random()} << 3));
      if (victim == live.end()) victim = live.begin();
      ASSERT_TRUE(space.free(victim->first));
      live.erase(victim);
    }
  }
  for (const auto& [address, bytes] : live) ASSERT_TRUE(space.free(address));
  AddressSpace fresh;
  for (const uint64_t size : {uint64_t{5}, 2 * mib, 20 * mib, 300 * mib, 24 * mib, 7 * mib}) {
    EXPECT_EQ(space.allocate(size), fresh.allocate(size));
  }
}

}  // namespace
}  // namespace torchmem::vgpu
