#include "../../../src/vgpu/nccl/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace torchmem::vgpu::nccl {
namespace {

template <class Number>
std::vector<Number> reduced(const std::vector<std::vector<Number>>& parts, int type, int kind) {
  std::vector<const void*> given;
  for (const std::vector<Number>& part : parts) given.push_back(part.data());
  std::vector<Number> result(parts[0].size());
  EXPECT_TRUE(reduce(given, result.data(), result.size(), type, kind));
  return result;
}

TEST(Numbers, TypesHaveTheirSizes) {
  EXPECT_EQ(element_bytes(int8), 1u);
  EXPECT_EQ(element_bytes(uint8), 1u);
  EXPECT_EQ(element_bytes(int32), 4u);
  EXPECT_EQ(element_bytes(uint64), 8u);
  EXPECT_EQ(element_bytes(float16), 2u);
  EXPECT_EQ(element_bytes(bfloat16), 2u);
  EXPECT_EQ(element_bytes(float64), 8u);
  EXPECT_EQ(element_bytes(float8e4m3), 1u);
  EXPECT_EQ(element_bytes(99), 8u);
}

TEST(Numbers, IntegersWrapAndKeepTheirSign) {
  EXPECT_EQ(reduced<int8_t>({{100, -3, -128}, {100, 2, -1}}, int8, reduction_sum),
            (std::vector<int8_t>{-56, -1, 127}));
  EXPECT_EQ(reduced<int8_t>({{100, -3, 5}, {100, 2, -1}}, int8, reduction_max),
            (std::vector<int8_t>{100, 2, 5}));
  EXPECT_EQ(reduced<uint8_t>({{200, 3}, {100, 255}}, uint8, reduction_sum), (std::vector<uint8_t>{44, 2}));
  EXPECT_EQ(reduced<uint8_t>({{200, 3}, {100, 255}}, uint8, reduction_min), (std::vector<uint8_t>{100, 3}));
  EXPECT_EQ(reduced<int64_t>({{INT64_MAX}, {1}}, int64, reduction_sum), std::vector<int64_t>{INT64_MIN});
  EXPECT_EQ(reduced<uint64_t>({{UINT64_MAX}, {1}}, uint64, reduction_max), std::vector<uint64_t>{UINT64_MAX});
  EXPECT_EQ(reduced<int32_t>({{-7, 9}, {2, 0}}, int32, reduction_average), (std::vector<int32_t>{-2, 4}));
  EXPECT_EQ(reduced<int32_t>({{1 << 20}, {1 << 20}}, int32, reduction_product), std::vector<int32_t>{0});
}

TEST(Numbers, FloatsAreAddedInTheirType) {
  EXPECT_EQ(reduced<float>({{1.0f}, {0x1p-24f}, {0x1p-24f}}, float32, reduction_sum),
            std::vector<float>{1.0f});
  EXPECT_EQ(reduced<double>({{1.0}, {0x1p-24}, {0x1p-24}}, float64, reduction_sum),
            std::vector<double>{1.0 + 0x1p-23});
  EXPECT_EQ(reduced<float>({{1.0f}, {2.0f}, {6.0f}}, float32, reduction_average), std::vector<float>{3.0f});
  float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(reduced<float>({{nan}, {2.0f}}, float32, reduction_max), std::vector<float>{2.0f});
  EXPECT_TRUE(std::isnan(reduced<float>({{nan}, {2.0f}}, float32, reduction_sum)[0]));
}

// A sum of one is the number itself, whatever its bits are; not-a-number stays one.
TEST(Numbers, SixteenBitFloatsComeBackAsTheyWere) {
  for (int type : {int{float16}, int{bfloat16}}) {
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      auto number = static_cast<uint16_t>(bits);
      uint32_t infinity = type == float16 ? 0x7c00 : 0x7f80;
      uint16_t result = reduced<uint16_t>({{number}}, type, reduction_sum)[0];
      if ((bits & 0x7fff) > infinity)
        EXPECT_GT(result & 0x7fff, infinity) << bits;
      else
        EXPECT_EQ(result, number) << type;
    }
  }
}

TEST(Numbers, BfloatsAreRoundedToNearestEven) {
  auto bits = [](float value) {
    uint32_t all;
    std::memcpy(&all, &value, sizeof all);
    return static_cast<uint16_t>(all >> 16);
  };
  EXPECT_EQ(reduced<uint16_t>({{bits(1.0f)}, {bits(0x1p-8f)}}, bfloat16, reduction_sum)[0], bits(1.0f));
  EXPECT_EQ(reduced<uint16_t>({{bits(1.0f + 0x1p-7f)}, {bits(0x1p-8f)}}, bfloat16, reduction_sum)[0],
            bits(1.0f + 0x1p-6f));
  EXPECT_EQ(reduced<uint16_t>({{bits(1.0f)}, {bits(0x1p-8f)}, {bits(0x1p-8f)}}, bfloat16, reduction_sum)[0],
            bits(1.0f + 0x1p-7f));
}

#ifdef __FLT16_MAX__
TEST(Numbers, HalvesAreRoundedAsTheCompilerDoes) {
  auto half = [](uint16_t bits) {
    _Float16 value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<float>(value);
  };
  uint32_t random = 1;
  for (int i = 0; i < 200000; ++i) {
    random = random * 1664525u + 1013904223u;
    auto a = static_cast<uint16_t>(random >> 16), b = static_cast<uint16_t>(random ^ (random >> 7));
    auto expected = static_cast<_Float16>(half(a) + half(b));
    if (std::isnan(static_cast<float>(expected))) continue;
    uint16_t bits;
    std::memcpy(&bits, &expected, sizeof bits);
    ASSERT_EQ(reduced<uint16_t>({{a}, {b}}, float16, reduction_sum)[0], bits) << a << " + " << b;
  }
}
#endif

TEST(Numbers, AScalarIsOfTheSameType) {
  std::vector<float> values{1, 2, 3};
  float half = 0.5f;
  EXPECT_TRUE(scale(values.data(), values.size(), float32, &half));
  EXPECT_EQ(values, (std::vector<float>{0.5f, 1, 1.5f}));
}

TEST(Numbers, EightBitFloatsAreNotComputedWith) {
  unsigned char one = 1, result = 0;
  EXPECT_FALSE(reduce({&one, &one}, &result, 1, float8e4m3, reduction_sum));
  EXPECT_FALSE(scale(&one, 1, float8e5m2, &one));
}

}  // namespace
}  // namespace torchmem::vgpu::nccl
