// Device memory of another process of the program: by CUDA IPC, and by files of the virtual-memory API. It
// stays that process's: here it takes address space alone, and what is in it is not known.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "device.h"
#include "export.h"

using namespace torchmem::vgpu;

namespace {

constexpr uint64_t magic = 0x6370692d766d74;  // "tmv-ipc"

// What a handle holds.
struct Shared {
  uint64_t magic;
  int64_t pid;
  int64_t device;
  uint64_t bytes;
  uint64_t identity;
};
static_assert(sizeof(Shared) <= tmv_share_handle_bytes);

struct Opened {
  uint64_t address = 0;
  size_t bytes = 0;
  int times = 0;
};

// Guarded by the state's mutex; by whose memory it is, and which of that process's.
using OpenedBlocks = std::map<std::pair<int64_t, uint64_t>, Opened>;
Immortal<OpenedBlocks> the_opened;

}  // namespace

TMV_EXPORT int tmv_share(uint64_t address, void* handle) {
  PointerInfo info;
  tmv_pointer(address, &info);
  if (!handle || info.kind != MemoryKind::device) return invalid_value;
  const Shared shared{magic, getpid(), info.device, info.bytes, info.identity};
  std::memset(handle, 0, tmv_share_handle_bytes);
  std::memcpy(handle, &shared, sizeof shared);
  return success;
}

TMV_EXPORT int tmv_open_shared(const void* handle, uint64_t* address) {
  Shared shared{};
  if (!handle || !address) return invalid_value;
  std::memcpy(&shared, handle, sizeof shared);
  if (shared.magic != magic || shared.bytes == 0) return invalid_value;
  if (shared.pid == getpid()) return invalid_context;  // as on a real device: for other processes alone
  const int device = static_cast<int>(shared.device);
  if (int status = tmv_activate(device); status != success) return status;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Opened& opened = the_opened.get()[{shared.pid, shared.identity}];
  if (opened.times == 0) {
    opened.bytes = shared.bytes;
    opened.address = device_at(all, device)->addresses->reserve(shared.bytes, 0);
    if (opened.address == 0) return out_of_memory;
    all.reservations[opened.address] = device;
    all.identities[opened.address] = all.next_identity++;
  }
  ++opened.times;
  *address = opened.address;
  return success;
}

TMV_EXPORT int tmv_physical_export(uint64_t handle, int* file) {
  Shared shared{magic, getpid(), 0, 0, handle};
  int device = 0;
  size_t bytes = 0;
  if (!file) return invalid_value;
  if (int status = tmv_physical_info(handle, &device, &bytes); status != success) return status;
  shared.device = device;
  shared.bytes = bytes;
  *file = memfd_create("torchmem-physical", MFD_CLOEXEC);
  if (*file < 0) return out_of_memory;
  if (pwrite(*file, &shared, sizeof shared, 0) == static_cast<ssize_t>(sizeof shared)) return success;
  close(*file);
  return out_of_memory;
}

TMV_EXPORT int tmv_physical_import(int file, uint64_t* handle) {
  Shared shared{};
  if (!handle || pread(file, &shared, sizeof shared, 0) != static_cast<ssize_t>(sizeof shared) ||
      shared.magic != magic)
    return invalid_value;
  const int device = static_cast<int>(shared.device);
  if (int status = tmv_activate(device); status != success) return status;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  *handle = all.next_physical++;
  Physical physical;
  physical.device = device;
  physical.bytes = shared.bytes;
  physical.imported = true;
  all.physicals[*handle] = physical;
  return success;
}

TMV_EXPORT int tmv_close_shared(uint64_t address) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  OpenedBlocks& blocks = the_opened.get();
  for (auto block = blocks.begin(); block != blocks.end(); ++block) {
    Opened& opened = block->second;
    if (opened.times == 0 || opened.address != address) continue;
    if (--opened.times > 0) return success;
    all.contents.forget(address, opened.bytes);
    all.pending.drop(address, opened.bytes);
    all.identities.erase(address);
    device_at(all, all.reservations[address])->addresses->release(address);
    all.reservations.erase(address);
    blocks.erase(block);
    return success;
  }
  return invalid_value;
}
