// cudaDeviceSetLimit's numbers, and what else a device says of itself.
#include <gtest/gtest.h>

#include "core.h"

namespace torchmem::vgpu {
namespace {

constexpr int stack_size = 0;
constexpr int malloc_heap = 2;
constexpr int no_limit = 99;

size_t limit_of(int device, int limit) {
  size_t value = 0;
  EXPECT_EQ(tmv_limit(device, limit, &value), success);
  return value;
}

TEST(Limits, AreTheProfilesUntilTheyAreSet) {
  EXPECT_EQ(limit_of(0, stack_size), 1024u);
  EXPECT_EQ(limit_of(0, malloc_heap), 8388608u);
  EXPECT_EQ(tmv_set_limit(0, stack_size, 4096), success);
  EXPECT_EQ(limit_of(0, stack_size), 4096u);
  EXPECT_EQ(limit_of(0, malloc_heap), 8388608u);
  EXPECT_EQ(limit_of(1, stack_size), 1024u) << "of the other device";
  EXPECT_EQ(tmv_set_limit(0, stack_size, 1024), success);
}

TEST(Limits, RefusesWhatThereIsNot) {
  size_t value = 5;
  EXPECT_EQ(tmv_limit(0, no_limit, &value), invalid_value);
  EXPECT_EQ(tmv_set_limit(0, no_limit, 1), invalid_value);
  EXPECT_EQ(tmv_limit(2, stack_size, &value), invalid_value);
  EXPECT_EQ(tmv_set_limit(2, stack_size, 1), invalid_value);
  EXPECT_EQ(tmv_limit(0, stack_size, nullptr), invalid_value);
  EXPECT_EQ(value, 5u);
}

TEST(Device, IsChosenForThisThread) {
  EXPECT_EQ(tmv_set_device(1), success);
  EXPECT_EQ(tmv_current_device(), 1);
  EXPECT_EQ(tmv_set_device(2), invalid_device);
  EXPECT_EQ(tmv_current_device(), 1) << "after one that is not there";
  EXPECT_EQ(tmv_set_device(0), success);
}

TEST(Device, SaysWhatTheProfileSays) {
  int value = 0;
  EXPECT_EQ(tmv_attribute(0, 75, &value), success);  // the compute capability's first number
  EXPECT_EQ(value, 9);
  EXPECT_EQ(tmv_attribute(0, 1 << 20, &value), invalid_value);
  EXPECT_EQ(tmv_attribute(2, 75, &value), invalid_device);
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
