#include "vgpu/device/contents.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace torchmem::vgpu {
namespace {

constexpr uint64_t base = 0x700000000000;

std::string read(const Contents& contents, uint64_t address, size_t size, size_t* unknown) {
  std::string bytes(size, '?');
  *unknown = contents.read(address, bytes.data(), size).unknown;
  return bytes;
}

TEST(Contents, WhatTheHostWroteComesBack) {
  Contents contents;
  contents.write(base, "abcdef", 6);
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base, 6, &unknown), "abcdef");
  EXPECT_EQ(unknown, 0u);
  EXPECT_EQ(read(contents, base + 2, 3, &unknown), "cde");
  EXPECT_EQ(unknown, 0u);
}

TEST(Contents, WhatNobodyWroteReadsAsZeroAndIsCounted) {
  Contents contents;
  contents.write(base, "ab", 2);
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base, 4, &unknown), std::string("ab\0\0", 4));
  EXPECT_EQ(unknown, 2u);
}

TEST(Contents, AKernelsWriteIsForgottenInTheMiddle) {
  Contents contents;
  contents.write(base, "abcdef", 6);
  contents.forget(base + 2, 2);
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base, 6, &unknown), std::string("ab\0\0ef", 6));
  EXPECT_EQ(unknown, 2u);
}

TEST(Contents, AFillOfAnySizeIsKnown) {
  Contents contents;
  contents.fill(base, 7, size_t{1} << 40);
  size_t unknown = 1;
  EXPECT_EQ(read(contents, base + (uint64_t{1} << 39), 2, &unknown), "\x07\x07");
  EXPECT_EQ(unknown, 0u);
}

TEST(Contents, ACopyCarriesWhatIsKnownAndOnlyThat) {
  Contents contents;
  contents.write(base, "abcd", 4);
  contents.write(base + 100, "zzzzzzzz", 8);
  contents.copy(base + 100, base + 2, 6);
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base + 100, 8, &unknown), std::string("cd\0\0\0\0zz", 8));
  EXPECT_EQ(unknown, 4u);
}

TEST(Contents, OverlappingCopiesReadBeforeTheyWrite) {
  Contents contents;
  contents.write(base, "abcdef", 6);
  contents.copy(base + 2, base, 4);
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base, 6, &unknown), "ababcd");
  EXPECT_EQ(unknown, 0u);
}

TEST(Contents, ALargeWriteIsNotKeptAndHidesWhatWasThere) {
  Contents contents;
  contents.write(base, "abcd", 4);
  std::vector<char> large(Contents::max_write + 1, 'x');
  contents.write(base, large.data(), large.size());
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base, 4, &unknown), std::string(4, '\0'));
  EXPECT_EQ(unknown, 4u);
}

TEST(Contents, ALargeWriteComesBackFromAFile) {
  HostFile file;
  Contents contents;
  contents.keep_large(&file);
  std::vector<char> large(Contents::max_write + 5000);
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 7);
  contents.write(base, large.data(), large.size());
  contents.forget(base + 100, 10);
  contents.copy(base + (uint64_t{1} << 32), base + 4000, 8000);
  size_t unknown = 1;
  EXPECT_EQ(read(contents, base + (uint64_t{1} << 32), 8000, &unknown), std::string(&large[4000], 8000));
  EXPECT_EQ(unknown, 0u);
  EXPECT_EQ(read(contents, base + 90, 10, &unknown), std::string(&large[90], 10));
  read(contents, base + 90, 30, &unknown);
  EXPECT_EQ(unknown, 10u);
}

TEST(Contents, KeepsNoMoreThanItsBound) {
  Contents contents;
  std::vector<char> piece(Contents::max_write, 'x');
  size_t writes = Contents::max_total / Contents::max_write;
  for (size_t i = 0; i <= writes; ++i) contents.write(base + i * piece.size(), piece.data(), piece.size());
  size_t unknown = 0;
  read(contents, base + writes * piece.size(), 1, &unknown);
  EXPECT_EQ(unknown, 1u);
  read(contents, base, 1, &unknown);
  EXPECT_EQ(unknown, 0u);
}

TEST(Contents, SaysWhatIsAssumedAndCarriesItOn) {
  Contents contents;
  contents.write(base, "ab", 2, tmv_value_assumed);
  contents.write(base + 2, "cd", 2);
  contents.copy(base + 100, base, 4);
  Contents::Doubt doubt = contents.doubt(base + 100, 6);
  EXPECT_EQ(doubt.assumed, 2u);
  EXPECT_EQ(doubt.unknown, 2u);
  contents.write(base + 100, "e", 1);
  EXPECT_EQ(contents.doubt(base + 100, 4).assumed, 1u);
  contents.write(base + 101, "f", 1, tmv_value_unknown);
  EXPECT_EQ(contents.doubt(base + 100, 4).unknown, 1u);
}

TEST(Contents, ARunOfOneValueKeepsItsPhaseWhereItIsCut) {
  Contents contents;
  contents.repeat(base, "wxyz", 4, 4000, tmv_value_known);
  contents.forget(base + 6, 3);
  size_t unknown = 0;
  EXPECT_EQ(read(contents, base + 9, 5, &unknown), "xyzwx");
  EXPECT_EQ(unknown, 0u);
  EXPECT_EQ(read(contents, base + 3995, 5, &unknown), "zwxyz");
}

TEST(Contents, NamesTheGapsInOrder) {
  Contents contents;
  contents.write(base + 2, "ab", 2);
  contents.write(base + 6, "cd", 2);
  std::vector<Contents::Range> gaps = contents.gaps(base, 10);
  ASSERT_EQ(gaps.size(), 3u);
  EXPECT_EQ(gaps[0].address, base);
  EXPECT_EQ(gaps[0].size, 2u);
  EXPECT_EQ(gaps[1].address, base + 4);
  EXPECT_EQ(gaps[2].address, base + 8);
  std::vector<Contents::Range> same;
  std::vector<char> bytes(10);
  contents.read(base, bytes.data(), 10, &same);
  ASSERT_EQ(same.size(), 3u);
  EXPECT_EQ(same[2].size, 2u);
}

}  // namespace
}  // namespace torchmem::vgpu
