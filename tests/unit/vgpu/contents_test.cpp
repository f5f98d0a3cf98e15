#include "vgpu/device/contents.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace torchmem::vgpu {
namespace {

constexpr uint64_t base = 0x700000000000;

std::string read(const Contents& contents, uint64_t address, size_t size, size_t* unknown) {
  std::string bytes(size, '?');
  *unknown = contents.read(address, bytes.data(), size);
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

}  // namespace
}  // namespace torchmem::vgpu
