// The driver's virtual-memory API: addresses, physical memory, and what maps one to the other.
#include <gtest/gtest.h>

#include "core.h"
#include "values.h"

namespace torchmem::vgpu {
namespace {

constexpr size_t granule = size_t{2} << 20;

size_t free_bytes() {
  size_t free = 0;
  EXPECT_EQ(tmv_mem_info(0, &free, nullptr), success);
  return free;
}

class VirtualMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(tmv_activate(0), success);
    before_ = free_bytes();
    ASSERT_EQ(tmv_address_reserve(0, 8 * granule, 0, &base_), success);
  }
  void TearDown() override {
    EXPECT_EQ(tmv_address_free(base_, 8 * granule), success);
    EXPECT_EQ(free_bytes(), before_) << "something was not given back";
  }

  uint64_t physical(size_t bytes) {
    uint64_t handle = 0;
    EXPECT_EQ(tmv_physical_create(0, bytes, &handle), success);
    return handle;
  }

  size_t before_ = 0;
  uint64_t base_ = 0;
};

TEST_F(VirtualMemory, AddressesTakeNoMemory) {
  EXPECT_EQ(free_bytes(), before_);
  EXPECT_EQ(tmv_free(base_), invalid_value);
  EXPECT_EQ(tmv_address_free(base_ + granule, granule), invalid_value);
  uint64_t other = 0;
  EXPECT_EQ(tmv_address_reserve(0, 0, 0, &other), invalid_value);
  EXPECT_EQ(tmv_address_reserve(2, granule, 0, &other), invalid_device);
}

TEST_F(VirtualMemory, PhysicalMemoryIsTakenWhenItIsMade) {
  uint64_t handle = physical(3 * granule);
  EXPECT_EQ(before_ - free_bytes(), 3 * granule);
  int device = -1;
  size_t bytes = 0;
  EXPECT_EQ(tmv_physical_info(handle, &device, &bytes), success);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(bytes, 3 * granule);
  EXPECT_EQ(tmv_physical_release(handle), success);
  EXPECT_EQ(free_bytes(), before_);
  EXPECT_EQ(tmv_physical_release(handle), invalid_value);
  EXPECT_EQ(tmv_physical_info(handle, &device, &bytes), invalid_value);
}

TEST_F(VirtualMemory, PhysicalMemoryIsOfWholeGranulesAndRunsOut) {
  uint64_t handle = 0;
  for (size_t bytes : {size_t{0}, size_t{1}, granule + 1}) {
    EXPECT_EQ(tmv_physical_create(0, bytes, &handle), invalid_value) << bytes;
  }
  EXPECT_EQ(tmv_physical_create(0, granule, nullptr), invalid_value);
  EXPECT_EQ(tmv_physical_create(0, (before_ / granule + 1) * granule, &handle), out_of_memory);
  EXPECT_EQ(free_bytes(), before_);
}

TEST_F(VirtualMemory, MapsOnceAndAsAWhole) {
  uint64_t handle = physical(granule);
  EXPECT_EQ(tmv_map(base_, 2 * granule, handle), invalid_value) << "of another size";
  EXPECT_EQ(tmv_map(base_, granule, handle + 1), invalid_value) << "of no physical memory";
  EXPECT_EQ(tmv_map(base_, granule, handle), success);
  EXPECT_EQ(tmv_map(base_, granule, handle), already_mapped);
  uint64_t found = 0;
  EXPECT_EQ(tmv_mapped_handle(base_ + granule - 1, &found), success);
  EXPECT_EQ(found, handle);
  EXPECT_EQ(tmv_mapped_handle(base_ + granule, &found), invalid_value);
  EXPECT_EQ(tmv_unmap(base_, granule), success);
  EXPECT_EQ(tmv_unmap(base_, granule), not_mapped);
  EXPECT_EQ(tmv_physical_release(handle), success);
}

TEST_F(VirtualMemory, ReleasedMemoryLivesWhileItIsMapped) {
  uint64_t handle = physical(granule);
  EXPECT_EQ(tmv_map(base_, granule, handle), success);
  EXPECT_EQ(tmv_map(base_ + 4 * granule, granule, handle), success);
  EXPECT_EQ(tmv_physical_release(handle), success);
  EXPECT_EQ(before_ - free_bytes(), granule);
  EXPECT_EQ(tmv_unmap(base_, granule), success);
  EXPECT_EQ(before_ - free_bytes(), granule) << "the second mapping is there";
  EXPECT_EQ(tmv_unmap(base_ + 4 * granule, granule), success);
  EXPECT_EQ(free_bytes(), before_);
}

TEST_F(VirtualMemory, UnmapsAllOfARange) {
  for (uint64_t i = 0; i < 3; ++i) {
    uint64_t handle = physical(granule);
    EXPECT_EQ(tmv_map(base_ + i * granule, granule, handle), success);
    EXPECT_EQ(tmv_physical_release(handle), success);
  }
  EXPECT_EQ(tmv_unmap(base_, 2 * granule), success);
  EXPECT_EQ(before_ - free_bytes(), granule);
  EXPECT_EQ(tmv_unmap(base_ + 2 * granule, granule), success);
}

TEST_F(VirtualMemory, PointerSaysItsMapping) {
  uint64_t handle = physical(2 * granule);
  EXPECT_EQ(tmv_map(base_ + granule, 2 * granule, handle), success);
  PointerInfo info;
  tmv_pointer(base_ + 2 * granule, &info);
  EXPECT_EQ(info.kind, MemoryKind::device);
  EXPECT_EQ(info.device, 0);
  EXPECT_EQ(info.base, base_ + granule);
  EXPECT_EQ(info.bytes, 2 * granule);
  EXPECT_NE(info.identity, 0u);
  EXPECT_EQ(tmv_unmap(base_ + granule, 2 * granule), success);
  EXPECT_EQ(tmv_physical_release(handle), success);
}

TEST_F(VirtualMemory, ContentsGoWithTheMapping) {
  uint64_t handle = physical(granule);
  EXPECT_EQ(tmv_map(base_, granule, handle), success);
  int value = 7, read = 0;
  EXPECT_EQ(tmv_copy(reinterpret_cast<void*>(base_), &value, sizeof value), success);
  EXPECT_EQ(tmv_value_peek(base_, sizeof read, &read), tmv_value_known);
  EXPECT_EQ(read, 7);
  EXPECT_EQ(tmv_unmap(base_, granule), success);
  EXPECT_EQ(tmv_map(base_, granule, handle), success);
  EXPECT_EQ(tmv_value_peek(base_, sizeof read, &read), tmv_value_unknown);
  EXPECT_EQ(tmv_unmap(base_, granule), success);
  EXPECT_EQ(tmv_physical_release(handle), success);
}

}  // namespace
}  // namespace torchmem::vgpu
