#include "device.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "export.h"
#include "process.h"

namespace torchmem::vgpu {
namespace {

constexpr int most_devices = 8;
// The devices' address spaces lie where a process maps nothing by itself: 2 TiB each, downwards.
constexpr uint64_t first_anchor = 0x7c0003e00000;
constexpr uint64_t anchor_distance = uint64_t{2} << 40;
constexpr uint64_t space_above_anchor = uint64_t{1} << 30;

thread_local int current_device = 0;

// How many of `wanted` devices CUDA_VISIBLE_DEVICES leaves. All devices are alike, so only the number counts;
// as with the real runtime, the list ends at the first entry that is not a device.
int visible_devices(int wanted) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!list) return wanted;
  int visible = 0;
  while (*list) {
    char* end = nullptr;
    long number = std::strtol(list, &end, 10);
    if (end == list || number < 0 || number >= wanted) break;
    ++visible;
    if (*end != ',') break;
    list = end + 1;
  }
  return visible;
}

int wanted_devices() {
  const char* count = std::getenv("TORCHMEM_VGPU_DEVICES");
  int wanted = count ? std::atoi(count) : 1;
  return wanted < 1 ? 1 : wanted > most_devices ? most_devices : wanted;
}

// TORCHMEM_VGPU_SPACE=model: an address space that nobody else uses, the same in every process.
AddressSpace make_address_space(int device) {
  AddressSpace::Layout layout;
  const char* space = std::getenv("TORCHMEM_VGPU_SPACE");
  if (!space || std::strcmp(space, "model") != 0)
    return AddressSpace(layout, std::make_unique<ProcessGaps>());
  layout.anchor = first_anchor - static_cast<uint64_t>(device) * anchor_distance;
  layout.span = anchor_distance - (space_above_anchor << 1);
  return AddressSpace(layout);
}

uint64_t load_bytes(const Profile& profile, const char* what) {
  auto found = profile.load_bytes.find(what);
  return found == profile.load_bytes.end() ? 0 : found->second;
}

struct LoadRule {
  Load load;
  const char* name;  // also the key in the profile's loads
  bool once;         // the first time only, else every time
  bool library;      // also loads what the math libraries share
  std::optional<AddressSpace::ModuleEvent> event;
};

using Event = AddressSpace::ModuleEvent;

// Bytes: measured one after the other on an H200 (cudaMemGetInfo before and after): the first kernel of a
// context, the first use of any math library, every cuBLAS and cuDNN handle, a cuFFT plan, a cuSOLVER handle.
// Events: docs/facts/addresses.md.
constexpr LoadRule load_rules[static_cast<int>(Load::kinds)] = {
    {Load::code, "code", true, false, std::nullopt},
    {Load::kernel, "local_memory", true, false, std::nullopt},
    {Load::assertion, "assertion", true, false, Event::device_assert},
    {Load::dropout, "dropout", true, false, Event::dropout},
    {Load::cublas_handle, "cublas_handle", false, true, Event::cublas_handle},
    {Load::cublas_kernel, "cublas_kernel", true, false, Event::cublas_kernel},
    {Load::cudnn_handle, "cudnn_handle", false, true, std::nullopt},
    {Load::convolution_plan, "convolution_plan", true, false, Event::convolution_plan},
    {Load::convolution_kernel, "convolution_kernel", true, false, Event::convolution_kernel},
    {Load::recurrent, "recurrent", true, false, Event::recurrent},
    {Load::cufft_plan, "cufft_plan", true, false, std::nullopt},
    {Load::cusolver_handle, "cusolver_handle", true, false, std::nullopt},
};

struct LoadedOnce {
  std::atomic<bool> seen[static_cast<int>(Load::kinds)];
};
Immortal<LoadedOnce> loaded_once;

void load_on(State& all, Device& device, const LoadRule& rule) {
  device.context_bytes += load_bytes(*all.profile, rule.name);
  if (rule.library && !std::exchange(device.library_loaded, true))
    device.context_bytes += load_bytes(*all.profile, "library");
  if (rule.event) device.addresses->reserve_modules(*rule.event);
}

Immortal<State> the_state;

}  // namespace

State& state() { return the_state.get(); }

State::State() : profile(process_profile()) {
  const int count = profile ? visible_devices(wanted_devices()) : 0;
  for (int i = 0; i < count; ++i) devices.push_back(std::make_unique<Device>());
}

Device* device_at(State& all, int device) {
  return device < 0 || static_cast<size_t>(device) >= all.devices.size()
             ? nullptr
             : all.devices[static_cast<size_t>(device)].get();
}

int device_of(const State& all, uint64_t address) {
  for (size_t i = 0; i < all.devices.size(); ++i) {
    if (all.devices[i]->addresses && all.devices[i]->addresses->owns(address)) return static_cast<int>(i);
  }
  return -1;
}

bool take(State& all, Device& device, uint64_t bytes) {
  uint64_t held = device.used_bytes + device.context_bytes + all.profile->unusable_bytes;
  if (held > all.profile->total_bytes || bytes > all.profile->total_bytes - held) return false;
  device.used_bytes += bytes;
  return true;
}

void join_agent() {
  using Start = bool (*)();
  static std::atomic<bool> joined{false};
  if (joined.load(std::memory_order_relaxed)) return;
  static const Start start = [] {
    const char* agent = std::getenv("TORCHMEM_AGENT");
    if (!agent || !*agent) return Start{nullptr};
    void* library = dlopen(agent, RTLD_NOW | RTLD_LOCAL);
    auto found = library ? reinterpret_cast<Start>(dlsym(library, "torchmem_agent_start")) : nullptr;
    if (!found)
      std::fprintf(stderr, "torchmem: joining this program: %s; its peaks are not measured\n", dlerror());
    return found;
  }();
  if (!start || start()) joined = true;
}

}  // namespace torchmem::vgpu

using namespace torchmem::vgpu;

TMV_EXPORT int tmv_device_count() {
  const State& all = state();
  if (all.profile && all.devices.empty()) process_has_no_device();
  return static_cast<int>(all.devices.size());
}

TMV_EXPORT int tmv_current_device() { return current_device; }

TMV_EXPORT int tmv_activate(int device) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Device* found = device_at(all, device);
  if (!found) return all.devices.empty() ? no_device : invalid_device;
  if (!found->active) {
    found->active = true;
    found->addresses.emplace(make_address_space(device));
    found->context_bytes = all.profile->context_bytes;
    process_uses_device(static_cast<int>(all.devices.size()));
  }
  return success;
}

TMV_EXPORT int tmv_set_device(int device) {
  int status = tmv_activate(device);
  if (status == success) current_device = device;
  return status;
}

TMV_EXPORT bool tmv_context_active(int device) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Device* found = device_at(all, device);
  return found && found->active;
}

TMV_EXPORT int tmv_attribute(int device, int attribute, int* value) {
  State& all = state();
  if (!device_at(all, device)) return invalid_device;
  auto found = all.profile->attributes.find(attribute);
  if (!value || found == all.profile->attributes.end()) return invalid_value;
  *value = found->second;
  return success;
}

TMV_EXPORT int tmv_property(int device, const char* name, long long* values, int count) {
  State& all = state();
  auto found = device_at(all, device) ? all.profile->properties.find(name) : all.profile->properties.end();
  if (!device_at(all, device) || found == all.profile->properties.end()) return 0;
  for (int i = 0; i < count && static_cast<size_t>(i) < found->second.size(); ++i)
    values[i] = found->second[static_cast<size_t>(i)];
  return static_cast<int>(found->second.size());
}

TMV_EXPORT const char* tmv_device_name(int device) {
  State& all = state();
  return device_at(all, device) ? all.profile->name.c_str() : "";
}

TMV_EXPORT int tmv_limit(int device, int limit, size_t* value) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Device* found = device_at(all, device);
  if (!found || !value) return invalid_value;
  if (auto set = found->limits.find(limit); set != found->limits.end()) {
    *value = set->second;
    return success;
  }
  auto known = all.profile->limits.find(limit);
  if (known == all.profile->limits.end()) return invalid_value;
  *value = known->second;
  return success;
}

TMV_EXPORT int tmv_set_limit(int device, int limit, size_t value) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Device* found = device_at(all, device);
  if (!found || !all.profile->limits.count(limit)) return invalid_value;
  found->limits[limit] = value;
  return success;
}

TMV_EXPORT int tmv_version(const char* what) {
  State& all = state();
  if (!all.profile) return 0;
  auto found = all.profile->versions.find(what);
  return found == all.profile->versions.end() ? 0 : found->second;
}

TMV_EXPORT void tmv_uuid(int device, unsigned char bytes[16]) {
  // Any number that says which device it is will do: a virtual GPU has no serial number.
  static const unsigned char base[16] = {0x74, 0x6f, 0x72, 0x63, 0x68, 0x6d, 0x65, 0x6d,
                                         0x76, 0x67, 0x70, 0x75, 0,    0,    0,    0};
  std::memcpy(bytes, base, sizeof base);
  bytes[15] = static_cast<unsigned char>(device);
}

TMV_EXPORT void tmv_pci(int device, int* domain, int* bus, int* slot) {
  State& all = state();
  if (!all.profile) return;
  *domain = all.profile->pci_domain;
  *bus = all.profile->pci_bus;
  *slot = all.profile->pci_device + device;
}

TMV_EXPORT void tmv_loaded(Load what) {
  if (what == Load::kernel) tmv_loaded(Load::code);
  const LoadRule& rule = load_rules[static_cast<int>(what)];
  if (rule.once && loaded_once.get().seen[static_cast<int>(what)].exchange(true)) return;
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  if (Device* device = device_at(all, current_device)) load_on(all, *device, rule);
}

TMV_EXPORT size_t tmv_context_bytes(int device) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Device* found = device_at(all, device);
  return found ? found->context_bytes : 0;
}

TMV_EXPORT int tmv_mem_info(int device, size_t* free_bytes, size_t* total_bytes) {
  State& all = state();
  std::lock_guard<Mutex> lock(all.mutex);
  Device* found = device_at(all, device);
  if (!found) return invalid_device;
  uint64_t used = found->used_bytes + found->context_bytes;
  if (total_bytes) *total_bytes = all.profile->total_bytes;
  if (free_bytes) *free_bytes = used < all.profile->total_bytes ? all.profile->total_bytes - used : 0;
  return success;
}
