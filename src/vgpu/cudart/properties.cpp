#include <cstring>

#include "core.h"
#include "export.h"
#include "result.h"

namespace {

using torchmem::vgpu::result;

struct Field {
  const char* name;
  size_t offset;
  size_t size;  // of one number
  size_t count;
};

template <class T>
constexpr size_t count_of(const T&) {
  return 1;
}
template <class T, size_t N>
constexpr size_t count_of(const T (&)[N]) {
  return N;
}

#define FIELD(name)                                                                                        \
  {                                                                                                        \
#name, offsetof(cudaDeviceProp, name), sizeof(cudaDeviceProp::name) / count_of(cudaDeviceProp{}.name), \
        count_of(cudaDeviceProp{}.name)                                                                    \
  }

// Every number of cudaDeviceProp; a profile's properties have the same names.
const Field fields[] = {
    FIELD(totalGlobalMem),
    FIELD(sharedMemPerBlock),
    FIELD(regsPerBlock),
    FIELD(warpSize),
    FIELD(memPitch),
    FIELD(maxThreadsPerBlock),
    FIELD(maxThreadsDim),
    FIELD(maxGridSize),
    FIELD(totalConstMem),
    FIELD(major),
    FIELD(minor),
    FIELD(textureAlignment),
    FIELD(texturePitchAlignment),
    FIELD(multiProcessorCount),
    FIELD(integrated),
    FIELD(canMapHostMemory),
    FIELD(maxTexture1D),
    FIELD(maxTexture1DMipmap),
    FIELD(maxTexture2D),
    FIELD(maxTexture2DMipmap),
    FIELD(maxTexture2DLinear),
    FIELD(maxTexture2DGather),
    FIELD(maxTexture3D),
    FIELD(maxTexture3DAlt),
    FIELD(maxTextureCubemap),
    FIELD(maxTexture1DLayered),
    FIELD(maxTexture2DLayered),
    FIELD(maxTextureCubemapLayered),
    FIELD(maxSurface1D),
    FIELD(maxSurface2D),
    FIELD(maxSurface3D),
    FIELD(maxSurface1DLayered),
    FIELD(maxSurface2DLayered),
    FIELD(maxSurfaceCubemap),
    FIELD(maxSurfaceCubemapLayered),
    FIELD(surfaceAlignment),
    FIELD(concurrentKernels),
    FIELD(ECCEnabled),
    FIELD(pciBusID),
    FIELD(pciDeviceID),
    FIELD(pciDomainID),
    FIELD(tccDriver),
    FIELD(asyncEngineCount),
    FIELD(unifiedAddressing),
    FIELD(memoryBusWidth),
    FIELD(l2CacheSize),
    FIELD(persistingL2CacheMaxSize),
    FIELD(maxThreadsPerMultiProcessor),
    FIELD(streamPrioritiesSupported),
    FIELD(globalL1CacheSupported),
    FIELD(localL1CacheSupported),
    FIELD(sharedMemPerMultiprocessor),
    FIELD(regsPerMultiprocessor),
    FIELD(managedMemory),
    FIELD(isMultiGpuBoard),
    FIELD(multiGpuBoardGroupID),
    FIELD(hostNativeAtomicSupported),
    FIELD(pageableMemoryAccess),
    FIELD(concurrentManagedAccess),
    FIELD(computePreemptionSupported),
    FIELD(canUseHostPointerForRegisteredMem),
    FIELD(cooperativeLaunch),
    FIELD(sharedMemPerBlockOptin),
    FIELD(pageableMemoryAccessUsesHostPageTables),
    FIELD(directManagedMemAccessFromHost),
    FIELD(maxBlocksPerMultiProcessor),
    FIELD(accessPolicyMaxWindowSize),
    FIELD(reservedSharedMemPerBlock),
    FIELD(hostRegisterSupported),
    FIELD(sparseCudaArraySupported),
    FIELD(hostRegisterReadOnlySupported),
    FIELD(timelineSemaphoreInteropSupported),
    FIELD(memoryPoolsSupported),
    FIELD(gpuDirectRDMASupported),
    FIELD(gpuDirectRDMAFlushWritesOptions),
    FIELD(gpuDirectRDMAWritesOrdering),
    FIELD(memoryPoolSupportedHandleTypes),
    FIELD(deferredMappingCudaArraySupported),
    FIELD(ipcEventSupported),
    FIELD(clusterLaunch),
    FIELD(unifiedFunctionPointers),
    FIELD(deviceNumaConfig),
    FIELD(deviceNumaId),
    FIELD(mpsEnabled),
    FIELD(hostNumaId),
    FIELD(gpuPciDeviceID),
    FIELD(gpuPciSubsystemID),
    FIELD(hostNumaMultinodeIpcSupported),
};

#undef FIELD

void store(unsigned char* at, size_t size, long long value) {
  if (size == sizeof(int)) {
    int narrow = static_cast<int>(value);
    std::memcpy(at, &narrow, size);
  } else {
    std::memcpy(at, &value, size);
  }
}

}  // namespace

TMV_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!properties) return result(cudaErrorInvalidValue);
  if (device < 0 || device >= tmv_device_count()) return result(cudaErrorInvalidDevice);
  std::memset(static_cast<void*>(properties), 0, sizeof *properties);
  std::strncpy(properties->name, tmv_device_name(device), sizeof properties->name - 1);
  tmv_uuid(device, reinterpret_cast<unsigned char*>(properties->uuid.bytes));
  auto* bytes = reinterpret_cast<unsigned char*>(properties);
  for (const Field& field : fields) {
    long long values[4] = {};
    tmv_property(device, field.name, values, 4);
    for (size_t i = 0; i < field.count && i < 4; ++i)
      store(bytes + field.offset + i * field.size, field.size, values[i]);
  }
  tmv_pci(device, &properties->pciDomainID, &properties->pciBusID, &properties->pciDeviceID);
  return result(cudaSuccess);
}
