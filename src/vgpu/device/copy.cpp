// Host memory that CUDA knows of, and copies. See contents.h for what a copy keeps.
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "assumptions.h"
#include "device.h"
#include "export.h"
#include "process.h"
#include "values.h"

using namespace torchmem::vgpu;

namespace {

constexpr size_t host_alignment = 4096;

uint64_t number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void keep_arrived(void* user, uint64_t address, const void* bytes, size_t size, int state_of_it) {
  static_cast<State*>(user)->contents.write(address, bytes, size, state_of_it);
}

// Before a read, with no lock held: what is on its way to the range arrives.
void settle(State& all, uint64_t address, size_t bytes) {
  all.pending.settle(address, bytes, {&all.mutex, keep_arrived, &all});
}

// The host reads what nobody knows: what it is taken for stays, so that the next read says the same.
void assume(State& all, uint64_t address, size_t bytes, void* to,
            const std::vector<Contents::Range>& unknown) {
  std::vector<tmv_gap> gaps;
  gaps.reserve(unknown.size());
  for (const auto& range : unknown) gaps.push_back({range.address - address, range.size});
  int assumed = tmv_assume_value(address, bytes, to, gaps.data(), gaps.size());
  if (assumed == tmv_not_assumed || bytes > Contents::max_write) return;
  if (assumed == tmv_assumed_all) gaps = {{0, bytes}};
  std::lock_guard<Mutex> lock(all.mutex);
  for (const tmv_gap& gap : gaps)
    all.contents.write(address + gap.offset, static_cast<char*>(to) + gap.offset, gap.bytes,
                       tmv_value_assumed);
}

// The mutex is held.
void add_pinned(State& all, size_t bytes) {
  all.pinned_bytes += bytes;
  process_pins(all.pinned_bytes);
}

}  // namespace

TMV_EXPORT int tmv_host_alloc(size_t bytes, void** pointer) {
  if (!pointer) return invalid_value;
  *pointer = nullptr;
  if (bytes == 0) return success;
  if (int status = tmv_activate(tmv_current_device()); status != success) return status;
  if (posix_memalign(pointer, host_alignment, bytes) != 0) return out_of_memory;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  all.host[number(*pointer)] = bytes;
  add_pinned(all, bytes);
  return success;
}

TMV_EXPORT int tmv_host_free(void* pointer) {
  if (!pointer) return success;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.host.find(number(pointer));
  if (found == all.host.end() || all.registered.count(number(pointer))) return invalid_value;
  all.pinned_bytes -= found->second;
  all.host.erase(found);
  std::free(pointer);
  return success;
}

TMV_EXPORT int tmv_host_register(void* pointer, size_t bytes) {
  if (int status = tmv_activate(tmv_current_device()); status != success) return status;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  if (!pointer || bytes == 0) return invalid_value;
  if (!all.host.emplace(number(pointer), bytes).second) return host_memory_already_registered;
  all.registered[number(pointer)] = bytes;
  add_pinned(all, bytes);
  return success;
}

TMV_EXPORT int tmv_host_unregister(void* pointer) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.registered.find(number(pointer));
  if (found == all.registered.end()) return host_memory_not_registered;
  all.pinned_bytes -= found->second;
  all.registered.erase(found);
  all.host.erase(number(pointer));
  return success;
}

TMV_EXPORT int tmv_copy(void* destination, const void* source, size_t bytes) {
  if (bytes == 0) return success;
  State& all = state();
  settle(all, number(source), bytes);
  all.pending.drop(number(destination), bytes);
  std::unique_lock<Mutex> lock(all.mutex);
  bool to_device = device_of(all, number(destination)) >= 0;
  bool from_device = device_of(all, number(source)) >= 0;
  if (to_device && from_device) {
    all.contents.copy(number(destination), number(source), bytes);
  } else if (to_device) {
    all.contents.write(number(destination), source, bytes);
  } else if (from_device) {
    std::vector<Contents::Range> unknown;
    Contents::Doubt doubt = all.contents.read(number(source), destination, bytes, &unknown);
    lock.unlock();
    if (doubt.unknown || doubt.assumed) assume(all, number(source), bytes, destination, unknown);
  } else {
    std::memmove(destination, source, bytes);
  }
  return success;
}

TMV_EXPORT int tmv_fill(uint64_t address, int byte, size_t bytes) {
  State& all = state();
  all.pending.drop(address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  if (device_of(all, address) >= 0)
    all.contents.fill(address, static_cast<unsigned char>(byte), bytes);
  else
    std::memset(reinterpret_cast<void*>(address), byte, bytes);
  return success;
}

TMV_EXPORT void tmv_value_poke(uint64_t address, size_t bytes, const void* from, int state_of_it) {
  State& all = state();
  all.pending.drop(address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  all.contents.write(address, from, bytes, state_of_it);
}

TMV_EXPORT void tmv_value_repeat(uint64_t address, size_t bytes, const void* value, size_t unit,
                                 int state_of_it) {
  State& all = state();
  all.pending.drop(address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  all.contents.repeat(address, value, unit, bytes, state_of_it);
}

TMV_EXPORT void tmv_value_stand_in(uint64_t address, size_t bytes, const void* from) {
  State& all = state();
  settle(all, address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  for (const Contents::Range& gap : all.contents.gaps(address, bytes))
    all.contents.write(gap.address, static_cast<const char*>(from) + (gap.address - address), gap.size,
                       tmv_value_assumed);
}

TMV_EXPORT int tmv_value_peek(uint64_t address, size_t bytes, void* to) {
  State& all = state();
  settle(all, address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  Contents::Doubt doubt = to ? all.contents.read(address, to, bytes) : all.contents.doubt(address, bytes);
  return doubt.unknown ? tmv_value_unknown : doubt.assumed ? tmv_value_assumed : tmv_value_known;
}

TMV_EXPORT void tmv_keep_large_values() {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  all.contents.keep_large(&all.large_values);
}

TMV_EXPORT void tmv_written(uint64_t address, size_t bytes) {
  State& all = state();
  all.pending.drop(address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  all.contents.forget(address, bytes);
}

TMV_EXPORT void tmv_value_states(uint64_t address, size_t bytes, unsigned char* states) {
  State& all = state();
  settle(all, address, bytes);
  std::lock_guard<Mutex> lock(all.mutex);
  all.contents.states(address, bytes, states);
}

TMV_EXPORT void tmv_value_pending(uint64_t address, size_t bytes,
                                  void (*resolve)(void* what, void* to, unsigned char* states),
                                  void (*release)(void* what), void* what) {
  tmv_written(address, bytes);
  state().pending.add(address, bytes, {resolve, release, what});
}
