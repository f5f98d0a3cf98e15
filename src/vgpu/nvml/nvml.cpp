// NVML, as far as PyTorch asks: at an out-of-memory (who else is on the device), to count devices, and for
// its peers. A half of it would turn every out-of-memory report into an internal assert. Structures and
// numbers: NVML's API reference.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core.h"
#include "export.h"

namespace {

constexpr int success = 0;
constexpr int invalid_argument = 2;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr int insufficient_size = 7;

struct ProcessInfo {  // nvmlProcessInfo_v1_t
  unsigned pid;
  unsigned long long used_bytes;
};

void* handle_of(int device) { return reinterpret_cast<void*>(static_cast<uintptr_t>(0x3000 + device)); }

int device_of(void* handle) { return static_cast<int>(reinterpret_cast<uintptr_t>(handle)) - 0x3000; }

int give_device(int device, void** handle) {
  if (device < 0 || device >= tmv_device_count()) return not_found;
  *handle = handle_of(device);
  return success;
}

void uuid_text(int device, char text[48]) {
  unsigned char b[16];
  tmv_uuid(device, b);
  std::snprintf(text, 48, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                b[15]);
}

}  // namespace

TMV_EXPORT int nvmlInit_v2() { return success; }

TMV_EXPORT int nvmlInitWithFlags(unsigned) { return success; }

TMV_EXPORT int nvmlShutdown() { return success; }

TMV_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(tmv_device_count());
  return success;
}

TMV_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  return give_device(static_cast<int>(index), handle);
}

TMV_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** handle) {
  unsigned domain = 0, bus = 0, slot = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3) return invalid_argument;
  for (int device = 0; device < tmv_device_count(); ++device) {
    int d = 0, b = 0, s = 0;
    tmv_pci(device, &d, &b, &s);
    if (static_cast<int>(bus) == b && static_cast<int>(slot) == s) return give_device(device, handle);
  }
  return not_found;
}

TMV_EXPORT int nvmlDeviceGetHandleByUUID(const char* text, void** handle) {
  for (int device = 0; device < tmv_device_count(); ++device) {
    char own[48];
    uuid_text(device, own);
    if (std::strcmp(own, text) == 0) return give_device(device, handle);
  }
  return not_found;
}

TMV_EXPORT int nvmlDeviceGetUUID(void* handle, char* text, unsigned length) {
  char own[48];
  uuid_text(device_of(handle), own);
  if (std::strlen(own) >= length) return insufficient_size;
  std::strcpy(text, own);
  return success;
}

TMV_EXPORT int nvmlDeviceGetComputeRunningProcesses(void* handle, unsigned* count, ProcessInfo* processes) {
  int device = device_of(handle);
  unsigned room = *count;
  *count = tmv_context_active(device) ? 1 : 0;
  if (*count == 0) return success;
  if (room < 1 || !processes) return insufficient_size;
  size_t free_bytes = 0, total_bytes = 0;
  tmv_mem_info(device, &free_bytes, &total_bytes);
  processes[0] = {static_cast<unsigned>(getpid()), total_bytes - free_bytes};
  return success;
}

TMV_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = tmv_version("driver");
  return success;
}

// No links between virtual devices.
TMV_EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return not_supported; }

TMV_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return not_supported; }

TMV_EXPORT int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return not_supported; }

TMV_EXPORT int nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = 0;  // NVML_P2P_STATUS_OK
  return success;
}

TMV_EXPORT const char* nvmlErrorString(int status) {
  switch (status) {
    case success:
      return "Success";
    case invalid_argument:
      return "Invalid Argument";
    case not_supported:
      return "Not Supported";
    case not_found:
      return "Not Found";
    case insufficient_size:
      return "Insufficient Size";
    default:
      return "Unknown Error";
  }
}
