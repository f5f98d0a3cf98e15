// Device and host memory: what is taken, what is given back, and what an address is said to be.
#include <gtest/gtest.h>

#include <set>

#include "core.h"

namespace torchmem::vgpu {
namespace {

constexpr size_t kGranule = size_t{2} << 20;
constexpr size_t kTotal = 150109880320;
constexpr size_t kContext = 552402944;
// Of the free bytes, those that no allocation gets.
constexpr size_t kUnusable = 3276800;

size_t free_bytes(int device = 0) {
  size_t free = 0, total = 0;
  EXPECT_EQ(tmv_mem_info(device, &free, &total), kSuccess);
  EXPECT_EQ(total, kTotal);
  return free;
}

uint64_t allocated(size_t bytes, int device = 0) {
  uint64_t address = 0;
  EXPECT_EQ(tmv_malloc(device, bytes, &address), kSuccess);
  EXPECT_NE(address, 0u);
  return address;
}

PointerInfo info_of(uint64_t address) {
  PointerInfo info;
  tmv_pointer(address, &info);
  return info;
}

TEST(Memory, ContextTakesItsBytesAtFirstUse) {
  // The first test to run in this process, or alone in one of its own.
  if (tmv_context_active(1)) GTEST_SKIP() << "another test used the device before";
  EXPECT_EQ(free_bytes(1), kTotal);
  EXPECT_EQ(tmv_activate(1), kSuccess);
  EXPECT_TRUE(tmv_context_active(1));
  EXPECT_EQ(free_bytes(1), kTotal - kContext);
  EXPECT_EQ(tmv_activate(1), kSuccess);
  EXPECT_EQ(free_bytes(1), kTotal - kContext);
}

TEST(Memory, IsCountedInWholeGranules) {
  ASSERT_EQ(tmv_activate(0), kSuccess);
  size_t before = free_bytes();
  for (auto [bytes, taken] :
       {std::pair{size_t{1}, kGranule}, {kGranule, kGranule}, {kGranule + 1, 2 * kGranule}}) {
    uint64_t address = allocated(bytes);
    EXPECT_EQ(before - free_bytes(), taken) << bytes;
    EXPECT_EQ(tmv_free(address), kSuccess);
    EXPECT_EQ(free_bytes(), before) << bytes;
  }
}

TEST(Memory, FreesOnceAndOnlyWhatIsAllocated) {
  uint64_t address = allocated(kGranule);
  EXPECT_EQ(tmv_free(address + 512), kInvalidValue);
  EXPECT_EQ(tmv_free(address), kSuccess);
  EXPECT_EQ(tmv_free(address), kInvalidValue);
  EXPECT_EQ(tmv_free(0), kSuccess);
  int on_the_host = 0;
  EXPECT_EQ(tmv_free(reinterpret_cast<uint64_t>(&on_the_host)), kInvalidValue);
}

TEST(Memory, NothingIsAnAllocationOfNothing) {
  size_t before = (tmv_activate(0), free_bytes());
  uint64_t address = 1;
  EXPECT_EQ(tmv_malloc(0, 0, &address), kSuccess);
  EXPECT_EQ(address, 0u);
  EXPECT_EQ(tmv_malloc(0, 1, nullptr), kInvalidValue);
  EXPECT_EQ(free_bytes(), before);
}

TEST(Memory, RunsOutAndGoesOn) {
  ASSERT_EQ(tmv_activate(0), kSuccess);
  size_t before = free_bytes();
  uint64_t address = 1;
  for (size_t bytes : {before, before - kUnusable + 1, kTotal + 1, SIZE_MAX}) {
    EXPECT_EQ(tmv_malloc(0, bytes, &address), kOutOfMemory) << bytes;
    EXPECT_EQ(address, 0u);
    EXPECT_EQ(free_bytes(), before);
  }
  size_t most = (before - kUnusable) / kGranule * kGranule;
  uint64_t all = allocated(most);
  EXPECT_EQ(free_bytes(), before - most);
  EXPECT_EQ(tmv_malloc(0, 1, &address), kOutOfMemory);
  EXPECT_EQ(tmv_free(all), kSuccess);
  EXPECT_EQ(tmv_free(allocated(1)), kSuccess);
}

TEST(Memory, DevicesAreApart) {
  EXPECT_EQ(tmv_device_count(), 2);
  uint64_t address = 0;
  EXPECT_EQ(tmv_malloc(2, 1, &address), kInvalidDevice);
  EXPECT_EQ(tmv_malloc(-1, 1, &address), kInvalidDevice);
  ASSERT_EQ(tmv_activate(0), kSuccess);
  size_t first = free_bytes(0);
  uint64_t other = allocated(kGranule, 1);
  EXPECT_EQ(free_bytes(0), first);
  EXPECT_EQ(info_of(other).device, 1);
  EXPECT_EQ(tmv_current_device(), 0);
  EXPECT_EQ(tmv_free(other), kSuccess);
}

TEST(Memory, PointerSaysItsAllocation) {
  uint64_t address = allocated(3 * kGranule);
  PointerInfo inside = info_of(address + 2 * kGranule + 5);
  EXPECT_EQ(inside.kind, MemoryKind::device);
  EXPECT_EQ(inside.device, 0);
  EXPECT_EQ(inside.base, address);
  EXPECT_EQ(inside.bytes, 3 * kGranule);
  EXPECT_EQ(tmv_free(address), kSuccess);
  EXPECT_EQ(info_of(address).kind, MemoryKind::unregistered);
}

TEST(Memory, IdentitiesAreNeverUsedAgain) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 10; ++i) {
    uint64_t address = allocated(kGranule);
    EXPECT_TRUE(seen.insert(info_of(address).identity).second);
    EXPECT_EQ(tmv_free(address), kSuccess);
  }
}

TEST(HostMemory, IsKnownUntilItIsFreed) {
  void* pointer = nullptr;
  ASSERT_EQ(tmv_host_alloc(1000, &pointer), kSuccess);
  auto address = reinterpret_cast<uint64_t>(pointer);
  EXPECT_EQ(info_of(address + 999).kind, MemoryKind::host);
  EXPECT_EQ(info_of(address + 999).base, address);
  EXPECT_EQ(info_of(address + 1000).kind, MemoryKind::unregistered);
  EXPECT_EQ(tmv_host_unregister(pointer), kHostMemoryNotRegistered);
  EXPECT_EQ(tmv_host_free(pointer), kSuccess);
  EXPECT_EQ(info_of(address).kind, MemoryKind::unregistered);
  EXPECT_EQ(tmv_host_free(nullptr), kSuccess);
}

TEST(HostMemory, IsRegisteredOnce) {
  static char bytes[4096];
  EXPECT_EQ(tmv_host_unregister(bytes), kHostMemoryNotRegistered);
  EXPECT_EQ(tmv_host_register(bytes, 0), kInvalidValue);
  EXPECT_EQ(tmv_host_register(bytes, sizeof bytes), kSuccess);
  EXPECT_EQ(tmv_host_register(bytes, sizeof bytes), kHostMemoryAlreadyRegistered);
  EXPECT_EQ(tmv_host_free(bytes), kInvalidValue);
  EXPECT_EQ(info_of(reinterpret_cast<uint64_t>(bytes) + 10).bytes, sizeof bytes);
  EXPECT_EQ(tmv_host_unregister(bytes), kSuccess);
  EXPECT_EQ(info_of(reinterpret_cast<uint64_t>(bytes)).kind, MemoryKind::unregistered);
}

TEST(Loads, AreCountedOnceOrEachTime) {
  ASSERT_EQ(tmv_set_device(0), kSuccess);
  size_t fresh = tmv_context_bytes(0);
  ASSERT_EQ(fresh, kContext);
  tmv_loaded(Load::kernel);
  size_t with_kernel = tmv_context_bytes(0);
  EXPECT_EQ(with_kernel - fresh, 2097152u + 96468992u);
  tmv_loaded(Load::kernel);
  tmv_loaded(Load::code);
  EXPECT_EQ(tmv_context_bytes(0), with_kernel);
  tmv_loaded(Load::cublas_handle);
  EXPECT_EQ(tmv_context_bytes(0) - with_kernel, 67108864u + 2097152u);
  tmv_loaded(Load::cublas_handle);
  tmv_loaded(Load::cudnn_handle);
  EXPECT_EQ(tmv_context_bytes(0) - with_kernel, 2 * 67108864u + 8388608u + 2097152u);
  EXPECT_EQ(free_bytes(), kTotal - tmv_context_bytes(0));
}

}  // namespace
}  // namespace torchmem::vgpu
