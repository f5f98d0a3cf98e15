// The driver's virtual-memory API: addresses, physical memory, and what maps one to the other.
#include <gtest/gtest.h>

#include "core.h"
#include "values.h"

namespace torchmem::vgpu {
namespace {

constexpr size_t kGranule = size_t{2} << 20;

size_t free_bytes() {
  size_t free = 0;
  EXPECT_EQ(tmv_mem_info(0, &free, nullptr), kSuccess);
  return free;
}

class VirtualMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(tmv_activate(0), kSuccess);
    before_ = free_bytes();
    ASSERT_EQ(tmv_address_reserve(0, 8 * kGranule, 0, &base_), kSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(tmv_address_free(base_, 8 * kGranule), kSuccess);
    EXPECT_EQ(free_bytes(), before_) << "something was not given back";
  }

  uint64_t physical(size_t bytes) {
    uint64_t handle = 0;
    EXPECT_EQ(tmv_physical_create(0, bytes, &handle), kSuccess);
    return handle;
  }

  size_t before_ = 0;
  uint64_t base_ = 0;
};

TEST_F(VirtualMemory, AddressesTakeNoMemory) {
  EXPECT_EQ(free_bytes(), before_);
  EXPECT_EQ(tmv_free(base_), kInvalidValue);
  EXPECT_EQ(tmv_address_free(base_ + kGranule, kGranule), kInvalidValue);
  uint64_t other = 0;
  EXPECT_EQ(tmv_address_reserve(0, 0, 0, &other), kInvalidValue);
  EXPECT_EQ(tmv_address_reserve(2, kGranule, 0, &other), kInvalidDevice);
}

TEST_F(VirtualMemory, PhysicalMemoryIsTakenWhenItIsMade) {
  uint64_t handle = physical(3 * kGranule);
  EXPECT_EQ(before_ - free_bytes(), 3 * kGranule);
  int device = -1;
  size_t bytes = 0;
  EXPECT_EQ(tmv_physical_info(handle, &device, &bytes), kSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(bytes, 3 * kGranule);
  EXPECT_EQ(tmv_physical_release(handle), kSuccess);
  EXPECT_EQ(free_bytes(), before_);
  EXPECT_EQ(tmv_physical_release(handle), kInvalidValue);
  EXPECT_EQ(tmv_physical_info(handle, &device, &bytes), kInvalidValue);
}

TEST_F(VirtualMemory, PhysicalMemoryIsOfWholeGranulesAndRunsOut) {
  uint64_t handle = 0;
  for (size_t bytes : {size_t{0}, size_t{1}, kGranule + 1}) {
    EXPECT_EQ(tmv_physical_create(0, bytes, &handle), kInvalidValue) << bytes;
  }
  EXPECT_EQ(tmv_physical_create(0, kGranule, nullptr), kInvalidValue);
  EXPECT_EQ(tmv_physical_create(0, (before_ / kGranule + 1) * kGranule, &handle), kOutOfMemory);
  EXPECT_EQ(free_bytes(), before_);
}

TEST_F(VirtualMemory, MapsOnceAndAsAWhole) {
  uint64_t handle = physical(kGranule);
  EXPECT_EQ(tmv_map(base_, 2 * kGranule, handle), kInvalidValue) << "of another size";
  EXPECT_EQ(tmv_map(base_, kGranule, handle + 1), kInvalidValue) << "of no physical memory";
  EXPECT_EQ(tmv_map(base_, kGranule, handle), kSuccess);
  EXPECT_EQ(tmv_map(base_, kGranule, handle), kAlreadyMapped);
  uint64_t found = 0;
  EXPECT_EQ(tmv_mapped_handle(base_ + kGranule - 1, &found), kSuccess);
  EXPECT_EQ(found, handle);
  EXPECT_EQ(tmv_mapped_handle(base_ + kGranule, &found), kInvalidValue);
  EXPECT_EQ(tmv_unmap(base_, kGranule), kSuccess);
  EXPECT_EQ(tmv_unmap(base_, kGranule), kNotMapped);
  EXPECT_EQ(tmv_physical_release(handle), kSuccess);
}

TEST_F(VirtualMemory, ReleasedMemoryLivesWhileItIsMapped) {
  uint64_t handle = physical(kGranule);
  EXPECT_EQ(tmv_map(base_, kGranule, handle), kSuccess);
  EXPECT_EQ(tmv_map(base_ + 4 * kGranule, kGranule, handle), kSuccess);
  EXPECT_EQ(tmv_physical_release(handle), kSuccess);
  EXPECT_EQ(before_ - free_bytes(), kGranule);
  EXPECT_EQ(tmv_unmap(base_, kGranule), kSuccess);
  EXPECT_EQ(before_ - free_bytes(), kGranule) << "the second mapping is there";
  EXPECT_EQ(tmv_unmap(base_ + 4 * kGranule, kGranule), kSuccess);
  EXPECT_EQ(free_bytes(), before_);
}

TEST_F(VirtualMemory, UnmapsAllOfARange) {
  for (uint64_t i = 0; i < 3; ++i) {
    uint64_t handle = physical(kGranule);
    EXPECT_EQ(tmv_map(base_ + i * kGranule, kGranule, handle), kSuccess);
    EXPECT_EQ(tmv_physical_release(handle), kSuccess);
  }
  EXPECT_EQ(tmv_unmap(base_, 2 * kGranule), kSuccess);
  EXPECT_EQ(before_ - free_bytes(), kGranule);
  EXPECT_EQ(tmv_unmap(base_ + 2 * kGranule, kGranule), kSuccess);
}

TEST_F(VirtualMemory, PointerSaysItsMapping) {
  uint64_t handle = physical(2 * kGranule);
  EXPECT_EQ(tmv_map(base_ + kGranule, 2 * kGranule, handle), kSuccess);
  PointerInfo info;
  tmv_pointer(base_ + 2 * kGranule, &info);
  EXPECT_EQ(info.kind, MemoryKind::device);
  EXPECT_EQ(info.device, 0);
  EXPECT_EQ(info.base, base_ + kGranule);
  EXPECT_EQ(info.bytes, 2 * kGranule);
  EXPECT_NE(info.identity, 0u);
  EXPECT_EQ(tmv_unmap(base_ + kGranule, 2 * kGranule), kSuccess);
  EXPECT_EQ(tmv_physical_release(handle), kSuccess);
}

TEST_F(VirtualMemory, ContentsGoWithTheMapping) {
  uint64_t handle = physical(kGranule);
  EXPECT_EQ(tmv_map(base_, kGranule, handle), kSuccess);
  int value = 7, read = 0;
  EXPECT_EQ(tmv_copy(reinterpret_cast<void*>(base_), &value, sizeof value), kSuccess);
  EXPECT_EQ(tmv_value_peek(base_, sizeof read, &read), tmv_value_known);
  EXPECT_EQ(read, 7);
  EXPECT_EQ(tmv_unmap(base_, kGranule), kSuccess);
  EXPECT_EQ(tmv_map(base_, kGranule, handle), kSuccess);
  EXPECT_EQ(tmv_value_peek(base_, sizeof read, &read), tmv_value_unknown);
  EXPECT_EQ(tmv_unmap(base_, kGranule), kSuccess);
  EXPECT_EQ(tmv_physical_release(handle), kSuccess);
}

}  // namespace
}  // namespace torchmem::vgpu
