// Device memory: cudaMalloc's and the driver's virtual-memory API. Nothing is held, everything is counted.
#include <cstdlib>
#include <mutex>

#include "assumptions.h"
#include "device.h"
#include "export.h"
#include "process.h"

using namespace torchmem::vgpu;

namespace {

uint64_t whole_granules(const State& all, uint64_t bytes) {
  uint64_t granule = all.profile->granularity_bytes;
  return (bytes + granule - 1) / granule * granule;
}

void give_back(Device& device, uint64_t bytes) {
  device.used_bytes -= bytes < device.used_bytes ? bytes : device.used_bytes;
}

void drop_physical(State& all, std::map<uint64_t, Physical>::iterator physical) {
  if (!physical->second.released || physical->second.mappings > 0) return;
  if (!physical->second.imported) give_back(*device_at(all, physical->second.device), physical->second.bytes);
  all.physicals.erase(physical);
}

// A block that cudaMalloc gives is outside of PyTorch's allocator until that claims it. The mutex is held.
void add_outside(Device& found, int device, uint64_t address, size_t bytes) {
  const uint64_t before = found.outside_bytes;
  found.outside[address] = bytes;
  found.outside_bytes += bytes;
  process_outside(device, before, found.outside_bytes);
}

void remove_outside(Device& found, int device, uint64_t address, bool was_outside) {
  auto block = found.outside.find(address);
  if (block == found.outside.end()) return;
  const uint64_t before = found.outside_bytes;
  found.outside_bytes -= block->second;
  found.outside.erase(block);
  process_outside(device, was_outside ? before : 0, found.outside_bytes);
}

std::map<uint64_t, Mapping>::iterator mapping_of(State& all, uint64_t address) {
  auto it = all.mappings.upper_bound(address);
  if (it == all.mappings.begin()) return all.mappings.end();
  --it;
  return address < it->first + it->second.bytes ? it : all.mappings.end();
}

}  // namespace

TMV_EXPORT int tmv_malloc(int device, size_t bytes, uint64_t* address) {
  State& all = state();
  if (int status = tmv_activate(device); status != success) return status;
  join_agent();
  if (!address) return invalid_value;
  std::lock_guard<Mutex> lock(all.mutex);
  Device& found = *device_at(all, device);
  *address = 0;
  if (bytes == 0) return success;
  if (bytes > all.profile->total_bytes) return out_of_memory;
  uint64_t taken = whole_granules(all, bytes);
  if (!take(all, found, taken)) return out_of_memory;
  *address = found.addresses->allocate(bytes);
  if (*address == 0) {
    give_back(found, taken);
    return out_of_memory;
  }
  all.identities[*address] = all.next_identity++;
  process_allocated();
  add_outside(found, device, *address, bytes);
  return success;
}

TMV_EXPORT void tmv_claimed(uint64_t address) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  const int device = device_of(all, address);
  if (Device* found = device_at(all, device)) remove_outside(*found, device, address, false);
}

TMV_EXPORT int tmv_free(uint64_t address) {
  if (address == 0) return success;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  const int device = device_of(all, address);
  Device* found = device_at(all, device);
  if (!found || all.reservations.count(address)) return invalid_value;
  uint64_t bytes = found->addresses->size_of(address);
  if (bytes == 0 || !found->addresses->free(address)) return invalid_value;
  remove_outside(*found, device, address, true);
  give_back(*found, whole_granules(all, bytes));
  all.contents.forget(address, bytes);
  all.pending.drop(address, bytes);
  all.identities.erase(address);
  return success;
}

TMV_EXPORT void tmv_pointer(uint64_t address, PointerInfo* info) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  *info = PointerInfo();
  int device = device_of(all, address);
  if (Device* found = device_at(all, device)) {
    auto mapping = mapping_of(all, address);
    std::optional<AddressSpace::Range> range;
    if (mapping != all.mappings.end())
      range = AddressSpace::Range{mapping->first, mapping->second.bytes};
    else
      range = found->addresses->find(address);
    if (!range) return;
    info->kind = MemoryKind::device;
    info->device = device;
    info->base = range->address;
    info->bytes = range->bytes;
    auto identity = all.identities.find(range->address);
    info->identity = identity == all.identities.end() ? 0 : identity->second;
    return;
  }
  auto host = all.host.upper_bound(address);
  if (host == all.host.begin()) return;
  --host;
  if (address >= host->first + host->second) return;
  info->kind = MemoryKind::host;
  info->device = tmv_current_device();
  info->base = host->first;
  info->bytes = host->second;
}

TMV_EXPORT int tmv_address_reserve(int device, size_t bytes, size_t alignment, uint64_t* address) {
  if (int status = tmv_activate(device); status != success) return status;
  if (!address || bytes == 0) return invalid_value;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  *address = device_at(all, device)->addresses->reserve(bytes, alignment);
  if (*address == 0) return out_of_memory;
  all.reservations[*address] = device;
  return success;
}

TMV_EXPORT int tmv_address_free(uint64_t address, size_t) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto reservation = all.reservations.find(address);
  if (reservation == all.reservations.end()) return invalid_value;
  device_at(all, reservation->second)->addresses->release(address);
  all.reservations.erase(reservation);
  return success;
}

TMV_EXPORT int tmv_physical_create(int device, size_t bytes, uint64_t* handle) {
  if (int status = tmv_activate(device); status != success) return status;
  join_agent();
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  if (!handle || bytes == 0 || bytes % all.profile->granularity_bytes) return invalid_value;
  if (!take(all, *device_at(all, device), bytes)) return out_of_memory;
  process_allocated();
  *handle = all.next_physical++;
  Physical physical;
  physical.device = device;
  physical.bytes = bytes;
  all.physicals[*handle] = physical;
  return success;
}

TMV_EXPORT int tmv_physical_release(uint64_t handle) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto physical = all.physicals.find(handle);
  if (physical == all.physicals.end() || physical->second.released) return invalid_value;
  physical->second.released = true;
  drop_physical(all, physical);
  return success;
}

TMV_EXPORT int tmv_physical_info(uint64_t handle, int* device, size_t* bytes) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto physical = all.physicals.find(handle);
  if (physical == all.physicals.end()) return invalid_value;
  if (device) *device = physical->second.device;
  if (bytes) *bytes = physical->second.bytes;
  return success;
}

TMV_EXPORT int tmv_map(uint64_t address, size_t bytes, uint64_t handle) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto physical = all.physicals.find(handle);
  if (physical == all.physicals.end() || bytes != physical->second.bytes) return invalid_value;
  if (mapping_of(all, address) != all.mappings.end()) return already_mapped;
  ++physical->second.mappings;
  all.mappings[address] = Mapping{bytes, handle};
  all.identities[address] = all.next_identity++;
  return success;
}

TMV_EXPORT int tmv_unmap(uint64_t address, size_t bytes) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  uint64_t end = address + bytes;
  auto it = all.mappings.lower_bound(address);
  if (it == all.mappings.end() || it->first != address) return not_mapped;
  while (it != all.mappings.end() && it->first < end) {
    auto physical = all.physicals.find(it->second.physical);
    all.contents.forget(it->first, it->second.bytes);
    all.pending.drop(it->first, it->second.bytes);
    all.identities.erase(it->first);
    it = all.mappings.erase(it);
    if (physical == all.physicals.end()) continue;
    --physical->second.mappings;
    drop_physical(all, physical);
  }
  return success;
}

TMV_EXPORT int tmv_mapped_handle(uint64_t address, uint64_t* handle) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto mapping = mapping_of(all, address);
  if (mapping == all.mappings.end()) return invalid_value;
  *handle = mapping->second.physical;
  return success;
}
