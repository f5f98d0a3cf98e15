#include "torchmem/fit_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

namespace torchmem {
namespace {

using Needs = std::function<uint64_t(uint64_t)>;

struct Found {
  std::optional<uint64_t> largest;
  uint64_t checked_through = 0;
  bool at_most = false;
  std::set<uint64_t> tried;
  size_t rounds = 0;
};

Found search(
    const FitBounds& bounds, uint64_t capacity, const Needs& needs,
    const Needs& allocated = [](uint64_t) { return 0; }) {
  FitSearch search(bounds, capacity);
  Found found;
  while (true) {
    std::vector<uint64_t> sizes = search.next();
    if (sizes.empty()) break;
    ++found.rounds;
    for (uint64_t size : sizes) {
      EXPECT_TRUE(found.tried.insert(size).second) << size << " was run twice";
      EXPECT_TRUE(size >= bounds.least && size <= bounds.most && size % bounds.multiple == 0) << size;
      bool fits = needs(size) <= capacity;
      search.add(size, fits, fits ? needs(size) : 0, fits ? allocated(size) : 0);
    }
    if (found.rounds > 10000) {
      ADD_FAILURE() << "the search does not end";
      break;
    }
  }
  found.largest = search.largest();
  found.checked_through = search.checked_through();
  found.at_most = search.at_most();
  return found;
}

std::optional<uint64_t> brute_force(const FitBounds& bounds, uint64_t capacity, const Needs& needs,
                                    uint64_t end) {
  std::optional<uint64_t> largest;
  for (uint64_t size = bounds.least; size <= std::min(bounds.most, end); ++size) {
    if (size % bounds.multiple == 0 && needs(size) <= capacity) largest = size;
  }
  return largest;
}

TEST(FitSearch, ALineTakesFewRuns) {
  auto needs = [](uint64_t size) { return 500 + 97 * size; };
  Found found = search({}, 1'000'000, needs);
  EXPECT_EQ(found.largest, (1'000'000u - 500) / 97);
  EXPECT_GE(found.checked_through, *found.largest + 4);
  EXPECT_LE(found.rounds, 6u);
  EXPECT_LE(found.tried.size(), 14u);
}

// The neighbours above the answer were really run.
TEST(FitSearch, WhatItSaysWasCheckedWasRun) {
  auto needs = [](uint64_t size) { return 10 * size; };
  FitBounds bounds;
  bounds.check = 7;
  Found found = search(bounds, 1234, needs);
  EXPECT_EQ(found.largest, 123u);
  EXPECT_EQ(found.checked_through, 130u);
  for (uint64_t size = 123; size <= 130; ++size) EXPECT_TRUE(found.tried.contains(size)) << size;
}

// By their allocated memory that many more may fit, whatever is reserved.
TEST(FitSearch, AllThatAllocatedMemoryHasRoomForAreChecked) {
  auto allocated = [](uint64_t size) { return 100 * size; };
  auto reserved = [](uint64_t size) { return 100 * size + (size % 2 == 0 ? 0 : 1000); };
  for (uint64_t room : {3, 5, 7, 20}) {
    FitSearch search({}, 10'000);
    uint64_t largest = 100 - room;
    for (uint64_t size = largest - 9; size <= largest; ++size)
      search.add(size, true, reserved(size), allocated(size));
    search.add(largest + 1, false);
    std::set<uint64_t> checked = {largest + 1};
    for (auto sizes = search.next(); !sizes.empty(); sizes = search.next()) {
      for (uint64_t size : sizes) {
        checked.insert(size);
        search.add(size, false);
      }
    }
    // The eight beyond twelve are those looked at further up, one each.
    EXPECT_EQ(checked.size(), std::max<uint64_t>(room, 4)) << room;
    EXPECT_EQ(search.checked_through(), largest + std::max<uint64_t>(room, 4));
  }
}

// A whole range that does not fit, with a larger one above it that does, is not the end.
TEST(FitSearch, LooksAsFarAsAllocatedMemoryHasRoom) {
  auto allocated = [](uint64_t size) { return 100 * size; };
  auto reserved = [](uint64_t size) { return size > 5000 && size < 6001 ? 1'000'000u : 110 * size; };
  Found found = search({}, 750'000, reserved, allocated);
  EXPECT_EQ(found.largest, 750'000u / 110);
  EXPECT_LE(found.tried.size(), 50u);
  // Nothing said of what is allocated: it stops in front.
  EXPECT_EQ(search({}, 560'000, reserved).largest, 5000u);
}

TEST(FitSearch, ProbesAreRoundSizesUpToTheRoom) {
  FitSearch search({}, 10'000);
  search.add(10, true, 9'000, 1'000);
  search.add(20, true, 9'500, 2'000);
  for (uint64_t size = 21; size <= 32; ++size) search.add(size, false);
  EXPECT_EQ(search.next(), (std::vector<uint64_t>{40, 48, 56, 64, 72, 80, 88, 96}));
  search.add(64, false);
  search.add(50, false);
  EXPECT_EQ(search.next(), (std::vector<uint64_t>{40, 48, 72, 80, 88, 96}));
}

TEST(FitSearch, ABumpAtTheAnswerIsSeen) {
  // 100 does not fit, 101 to 103 do.
  auto needs = [](uint64_t size) { return size == 100 ? 5000u : size <= 103 ? 10 * size : 20 * size; };
  EXPECT_EQ(search({}, 1030, needs).largest, 103u);
}

TEST(FitSearch, ATinySizeThatFailsIsNoAnswer) {
  auto needs = [](uint64_t size) { return size < 3 ? 10'000 : 10 * size; };
  EXPECT_EQ(search({}, 1000, needs).largest, 100u);
  auto second = [](uint64_t size) { return size == 3 ? 999u : 10'000u; };
  EXPECT_EQ(search({}, 1000, second).largest, 3u);
}

TEST(FitSearch, NoneFits) {
  Found found = search({}, 1000, [](uint64_t) { return 1001; });
  EXPECT_FALSE(found.largest);
  EXPECT_FALSE(found.at_most);
  EXPECT_GE(found.checked_through, 4u);
}

TEST(FitSearch, BoundsAreKept) {
  auto needs = [](uint64_t size) { return size; };
  FitBounds bounds;
  bounds.least = 10;
  bounds.most = 50;
  bounds.multiple = 8;
  Found all = search(bounds, 1000, needs);
  EXPECT_EQ(all.largest, 48u);
  EXPECT_TRUE(all.at_most);
  Found some = search(bounds, 40, needs);
  EXPECT_EQ(some.largest, 40u);
  EXPECT_FALSE(some.at_most);
  EXPECT_EQ(some.checked_through, 48u);
  bounds.least = bounds.most = 7;
  bounds.multiple = 1;
  EXPECT_EQ(search(bounds, 1000, needs).largest, 7u);
}

TEST(FitSearch, ExhaustiveRunsEverySize) {
  auto needs = [](uint64_t size) { return 10 * size; };
  FitBounds bounds;
  bounds.exhaustive = true;
  bounds.check = 2;
  Found found = search(bounds, 100, needs);
  EXPECT_EQ(found.largest, 10u);
  EXPECT_EQ(found.tried.size(), 16u);  // they are run sixteen at a time
  FitBounds all = bounds;
  all.most = 40;
  EXPECT_EQ(search(all, 1000, needs).tried.size(), 40u);
}

// Needs as an allocator has them: a slope, segments rounded up, and rests that come and go.
TEST(FitSearch, AgreesWithBruteForceOnUnevenNeeds) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    uint64_t slope = 1 + random() % 5000;
    uint64_t segment = 1 + random() % (2 * slope);
    uint64_t start = random() % 100'000;
    std::vector<uint64_t> rest(512);
    for (uint64_t& bytes : rest) bytes = random() % (slope + 1);
    auto needs = [&](uint64_t size) {
      return start + (slope * size + segment - 1) / segment * segment + rest[size % rest.size()];
    };
    uint64_t capacity = start + slope * (1 + random() % 300);
    Found found = search({}, capacity, needs);
    EXPECT_EQ(found.largest, brute_force({}, capacity, needs, 1000)) << "round " << round;
    EXPECT_LE(found.tried.size(), 40u);
  }
}

}  // namespace
}  // namespace torchmem
