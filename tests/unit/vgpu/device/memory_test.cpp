// Device and host memory: what is taken, what is given back, and what an address is said to be.
#include <gtest/gtest.h>

#include <set>

#include "core.h"

namespace torchmem::vgpu {
namespace {

constexpr size_t granule = size_t{2} << 20;
constexpr size_t total_memory = 150109880320;
constexpr size_t context = 552402944;
// Of the free bytes, those that no allocation gets.
constexpr size_t unusable = 3276800;

size_t free_bytes(int device = 0) {
  size_t free = 0, total = 0;
  EXPECT_EQ(tmv_mem_info(device, &free, &total), success);
  EXPECT_EQ(total, total_memory);
  return free;
}

uint64_t allocated(size_t bytes, int device = 0) {
  uint64_t address = 0;
  EXPECT_EQ(tmv_malloc(device, bytes, &address), success);
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
  EXPECT_EQ(free_bytes(1), total_memory);
  EXPECT_EQ(tmv_activate(1), success);
  EXPECT_TRUE(tmv_context_active(1));
  EXPECT_EQ(free_bytes(1), total_memory - context);
  EXPECT_EQ(tmv_activate(1), success);
  EXPECT_EQ(free_bytes(1), total_memory - context);
}

TEST(Memory, IsCountedInWholeGranules) {
  ASSERT_EQ(tmv_activate(0), success);
  size_t before = free_bytes();
  for (auto [bytes, taken] :
       {std::pair{size_t{1}, granule}, {granule, granule}, {granule + 1, 2 * granule}}) {
    uint64_t address = allocated(bytes);
    EXPECT_EQ(before - free_bytes(), taken) << bytes;
    EXPECT_EQ(tmv_free(address), success);
    EXPECT_EQ(free_bytes(), before) << bytes;
  }
}

TEST(Memory, FreesOnceAndOnlyWhatIsAllocated) {
  uint64_t address = allocated(granule);
  EXPECT_EQ(tmv_free(address + 512), invalid_value);
  EXPECT_EQ(tmv_free(address), success);
  EXPECT_EQ(tmv_free(address), invalid_value);
  EXPECT_EQ(tmv_free(0), success);
  int on_the_host = 0;
  EXPECT_EQ(tmv_free(reinterpret_cast<uint64_t>(&on_the_host)), invalid_value);
}

TEST(Memory, NothingIsAnAllocationOfNothing) {
  size_t before = (tmv_activate(0), free_bytes());
  uint64_t address = 1;
  EXPECT_EQ(tmv_malloc(0, 0, &address), success);
  EXPECT_EQ(address, 0u);
  EXPECT_EQ(tmv_malloc(0, 1, nullptr), invalid_value);
  EXPECT_EQ(free_bytes(), before);
}

TEST(Memory, RunsOutAndGoesOn) {
  ASSERT_EQ(tmv_activate(0), success);
  size_t before = free_bytes();
  uint64_t address = 1;
  for (size_t bytes : {before, before - unusable + 1, total_memory + 1, SIZE_MAX}) {
    EXPECT_EQ(tmv_malloc(0, bytes, &address), out_of_memory) << bytes;
    EXPECT_EQ(address, 0u);
    EXPECT_EQ(free_bytes(), before);
  }
  size_t most = (before - unusable) / granule * granule;
  uint64_t all = allocated(most);
  EXPECT_EQ(free_bytes(), before - most);
  EXPECT_EQ(tmv_malloc(0, 1, &address), out_of_memory);
  EXPECT_EQ(tmv_free(all), success);
  EXPECT_EQ(tmv_free(allocated(1)), success);
}

TEST(Memory, DevicesAreApart) {
  EXPECT_EQ(tmv_device_count(), 2);
  uint64_t address = 0;
  EXPECT_EQ(tmv_malloc(2, 1, &address), invalid_device);
  EXPECT_EQ(tmv_malloc(-1, 1, &address), invalid_device);
  ASSERT_EQ(tmv_activate(0), success);
  size_t first = free_bytes(0);
  uint64_t other = allocated(granule, 1);
  EXPECT_EQ(free_bytes(0), first);
  EXPECT_EQ(info_of(other).device, 1);
  EXPECT_EQ(tmv_current_device(), 0);
  EXPECT_EQ(tmv_free(other), success);
}

TEST(Memory, PointerSaysItsAllocation) {
  uint64_t address = allocated(3 * granule);
  PointerInfo inside = info_of(address + 2 * granule + 5);
  EXPECT_EQ(inside.kind, MemoryKind::device);
  EXPECT_EQ(inside.device, 0);
  EXPECT_EQ(inside.base, address);
  EXPECT_EQ(inside.bytes, 3 * granule);
  EXPECT_EQ(tmv_free(address), success);
  EXPECT_EQ(info_of(address).kind, MemoryKind::unregistered);
}

TEST(Memory, IdentitiesAreNeverUsedAgain) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 10; ++i) {
    uint64_t address = allocated(granule);
    EXPECT_TRUE(seen.insert(info_of(address).identity).second);
    EXPECT_EQ(tmv_free(address), success);
  }
}

TEST(HostMemory, IsKnownUntilItIsFreed) {
  void* pointer = nullptr;
  ASSERT_EQ(tmv_host_alloc(1000, &pointer), success);
  auto address = reinterpret_cast<uint64_t>(pointer);
  EXPECT_EQ(info_of(address + 999).kind, MemoryKind::host);
  EXPECT_EQ(info_of(address + 999).base, address);
  EXPECT_EQ(info_of(address + 1000).kind, MemoryKind::unregistered);
  EXPECT_EQ(tmv_host_unregister(pointer), host_memory_not_registered);
  EXPECT_EQ(tmv_host_free(pointer), success);
  EXPECT_EQ(info_of(address).kind, MemoryKind::unregistered);
  EXPECT_EQ(tmv_host_free(nullptr), success);
}

TEST(HostMemory, IsRegisteredOnce) {
  static char bytes[4096];
  EXPECT_EQ(tmv_host_unregister(bytes), host_memory_not_registered);
  EXPECT_EQ(tmv_host_register(bytes, 0), invalid_value);
  EXPECT_EQ(tmv_host_register(bytes, sizeof bytes), success);
  EXPECT_EQ(tmv_host_register(bytes, sizeof bytes), host_memory_already_registered);
  EXPECT_EQ(tmv_host_free(bytes), invalid_value);
  EXPECT_EQ(info_of(reinterpret_cast<uint64_t>(bytes) + 10).bytes, sizeof bytes);
  EXPECT_EQ(tmv_host_unregister(bytes), success);
  EXPECT_EQ(info_of(reinterpret_cast<uint64_t>(bytes)).kind, MemoryKind::unregistered);
}

TEST(Loads, AreCountedOnceOrEachTime) {
  ASSERT_EQ(tmv_set_device(0), success);
  size_t fresh = tmv_context_bytes(0);
  ASSERT_EQ(fresh, context);
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
  EXPECT_EQ(free_bytes(), total_memory - tmv_context_bytes(0));
}

}  // namespace
}  // namespace torchmem::vgpu
