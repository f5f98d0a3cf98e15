// cudaDeviceSetLimit's numbers, and what else a device says of itself.
#include <gtest/gtest.h>

#include "core.h"

namespace torchmem::vgpu {
namespace {

constexpr int kStackSize = 0;
constexpr int kMallocHeap = 2;
constexpr int kNoLimit = 99;

size_t limit_of(int device, int limit) {
  size_t value = 0;
  EXPECT_EQ(tmv_limit(device, limit, &value), kSuccess);
  return value;
}

TEST(Limits, AreTheProfilesUntilTheyAreSet) {
  EXPECT_EQ(limit_of(0, kStackSize), 1024u);
  EXPECT_EQ(limit_of(0, kMallocHeap), 8388608u);
  EXPECT_EQ(tmv_set_limit(0, kStackSize, 4096), kSuccess);
  EXPECT_EQ(limit_of(0, kStackSize), 4096u);
  EXPECT_EQ(limit_of(0, kMallocHeap), 8388608u);
  EXPECT_EQ(limit_of(1, kStackSize), 1024u) << "of the other device";
  EXPECT_EQ(tmv_set_limit(0, kStackSize, 1024), kSuccess);
}

TEST(Limits, RefusesWhatThereIsNot) {
  size_t value = 5;
  EXPECT_EQ(tmv_limit(0, kNoLimit, &value), kInvalidValue);
  EXPECT_EQ(tmv_set_limit(0, kNoLimit, 1), kInvalidValue);
  EXPECT_EQ(tmv_limit(2, kStackSize, &value), kInvalidValue);
  EXPECT_EQ(tmv_set_limit(2, kStackSize, 1), kInvalidValue);
  EXPECT_EQ(tmv_limit(0, kStackSize, nullptr), kInvalidValue);
  EXPECT_EQ(value, 5u);
}

TEST(Device, IsChosenForThisThread) {
  EXPECT_EQ(tmv_set_device(1), kSuccess);
  EXPECT_EQ(tmv_current_device(), 1);
  EXPECT_EQ(tmv_set_device(2), kInvalidDevice);
  EXPECT_EQ(tmv_current_device(), 1) << "after one that is not there";
  EXPECT_EQ(tmv_set_device(0), kSuccess);
}

TEST(Device, SaysWhatTheProfileSays) {
  int value = 0;
  EXPECT_EQ(tmv_attribute(0, 75, &value), kSuccess);  // the compute capability's first number
  EXPECT_EQ(value, 9);
  EXPECT_EQ(tmv_attribute(0, 1 << 20, &value), kInvalidValue);
  EXPECT_EQ(tmv_attribute(2, 75, &value), kInvalidDevice);
  EXPECT_STREQ(tmv_device_name(0), "NVIDIA H200");
  EXPECT_STREQ(tmv_device_name(2), "");
  EXPECT_EQ(tmv_version("no such library"), 0);
  unsigned char first[16], second[16];
  tmv_uuid(0, first);
  tmv_uuid(1, second);
  EXPECT_NE(first[15], second[15]);
}

}  // namespace
}  // namespace torchmem::vgpu
