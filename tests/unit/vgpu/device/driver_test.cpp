// The driver's contexts and memory as a program asks for them. Only CUDA's headers are needed.
#include <cuda.h>
#include <gtest/gtest.h>

#include <thread>

namespace {

constexpr size_t granule = size_t{2} << 20;

CUcontext context_of(int device) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
  return context;
}

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

bool is_active(int device) {
  unsigned flags = 1;
  int active = -1;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(device, &flags, &active), CUDA_SUCCESS);
  return active == 1;
}

TEST(Driver, KnowsItsDevices) {
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2);
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  for (int ordinal : {-1, 2}) EXPECT_EQ(cuDeviceGet(&device, ordinal), CUDA_ERROR_INVALID_DEVICE);
  int active = 0;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(2, nullptr, &active), CUDA_ERROR_INVALID_DEVICE);
}

TEST(Driver, MakesAContextWhenItIsRetained) {
  CUcontext context = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 2), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(context, nullptr);
  CUcontext first = context_of(0);
  EXPECT_NE(first, nullptr);
  EXPECT_TRUE(is_active(0));
  EXPECT_EQ(context_of(0), first) << "one for each device";
  EXPECT_NE(context_of(1), first);
}

TEST(Driver, ContextsArePushedAndPopped) {
  CUcontext first = context_of(0), second = context_of(1), popped = nullptr;
  ASSERT_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(first), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(current(), second);
  for (CUcontext below : {first, second, first}) {
    CUcontext top = current();
    EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, top);
    EXPECT_EQ(current(), below);
  }
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(current(), first) << "nothing was pushed";
}

TEST(Driver, EachThreadHasItsOwnContext) {
  ASSERT_EQ(cuCtxSetCurrent(context_of(0)), CUDA_SUCCESS);
  std::thread([] {
    EXPECT_EQ(cuCtxSetCurrent(context_of(1)), CUDA_SUCCESS);
    EXPECT_EQ(current(), context_of(1));
  }).join();
  EXPECT_EQ(current(), context_of(0));
}

TEST(Driver, GrowsASegmentByMapping) {
  ASSERT_EQ(cuCtxSetCurrent(context_of(0)), CUDA_SUCCESS);
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 1;
  size_t granularity = 0;
  EXPECT_EQ(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_SUCCESS);
  ASSERT_EQ(granularity, granule);
  CUdeviceptr base = 0;
  ASSERT_EQ(cuMemAddressReserve(&base, 16 * granule, 0, 0, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle handle = 0, found = 0;
  EXPECT_EQ(cuMemCreate(&handle, granule + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuMemCreate(&handle, granule, &properties, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(base, granule, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(base, granule, 0, handle, 0), CUDA_ERROR_ALREADY_MAPPED);
  EXPECT_EQ(cuMemRetainAllocationHandle(&found, reinterpret_cast<void*>(base + 1)), CUDA_SUCCESS);
  EXPECT_EQ(found, handle);
  CUmemAllocationProp told{};
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&told, handle), CUDA_SUCCESS);
  EXPECT_EQ(told.location.id, 1);
  size_t size = 0;
  EXPECT_EQ(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, base + 7), CUDA_SUCCESS);
  EXPECT_EQ(size, granule);
  EXPECT_EQ(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, base + granule * 20),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base, granule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemUnmap(base, granule), CUDA_ERROR_NOT_MAPPED);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(base, 16 * granule), CUDA_SUCCESS);
}

}  // namespace
