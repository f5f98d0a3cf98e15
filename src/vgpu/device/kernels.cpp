// Kernels: their names, what the profile knows of them, and what the first launch of one brings with it.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>

#include "device.h"
#include "export.h"

using namespace torchmem::vgpu;

namespace {

struct Kernels {
  Mutex mutex;
  std::vector<std::pair<const void*, const char*>> registered;
  std::unordered_map<const void*, const char*> names;  // of the first `indexed` registered ones
  size_t indexed = 0;
};
Immortal<Kernels> the_kernels;

// Kernels with a device-side assertion: they print, so that they need local memory for printf's arguments.
// Names as they appear, mangled, in PyTorch's own sources (Embedding.cu, Indexing.cu, IndexKernel.cu,
// Loss*.cu, ScatterGatherKernel.cu).
constexpr const char* asserting_kernels[] = {
    "indexSelect", "index_elementwise_kernel", "scatter_gather", "nll_loss", "embedding", "gpu_index_kernel"};

template <size_t N>
bool contains_any(const char* name, const char* const (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [name](const char* part) { return std::strstr(name, part) != nullptr; });
}

const Profile::Kernel* facts_of(const State& all, const char* kernel) {
  if (!all.profile) return nullptr;
  auto found = all.profile->kernels.find(kernel);
  return found == all.profile->kernels.end() ? nullptr : &found->second;
}

}  // namespace

TMV_EXPORT void tmv_kernel_register(const void* host_function, const char* name) {
  Kernels& all = the_kernels.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.registered.emplace_back(host_function, name);
}

TMV_EXPORT const char* tmv_kernel_name(const void* host_function) {
  Kernels& all = the_kernels.get();
  std::lock_guard<Mutex> lock(all.mutex);
  for (; all.indexed < all.registered.size(); ++all.indexed) all.names.insert(all.registered[all.indexed]);
  auto found = all.names.find(host_function);
  return found == all.names.end() ? "" : found->second;
}

TMV_EXPORT void tmv_kernel_first_launch(const void* host_function) {
  const char* name = tmv_kernel_name(host_function);
  tmv_loaded(std::strstr(name, "distribution") ? Load::code : Load::kernel);
  if (contains_any(name, asserting_kernels)) tmv_loaded(Load::assertion);
  if (std::strstr(name, "dropout")) tmv_loaded(Load::dropout);
}

TMV_EXPORT int tmv_occupancy(int device, const char* kernel, int block_threads, size_t dynamic_shared_bytes,
                             int* blocks) {
  State& all = state();
  if (!device_at(all, device)) return invalid_device;
  if (!blocks || block_threads <= 0) return invalid_value;
  const Profile::Kernel* facts = facts_of(all, kernel);
  if (facts) {
    std::string key = std::to_string(block_threads);
    if (dynamic_shared_bytes) key.append("+").append(std::to_string(dynamic_shared_bytes));
    if (auto known = facts->occupancy.find(key); known != facts->occupancy.end()) {
      *blocks = known->second;
      return success;
    }
  }
  const Profile& profile = *all.profile;
  long long warp = std::max(1LL, profile.property("warpSize"));
  long long threads = (block_threads + warp - 1) / warp * warp;
  long long fit = std::min(profile.property("maxThreadsPerMultiProcessor") / threads,
                           profile.property("maxBlocksPerMultiProcessor"));
  long long shared = static_cast<long long>(dynamic_shared_bytes) +
                     profile.property("reservedSharedMemPerBlock") +
                     tmv_kernel_attribute(kernel, "shared", 0);
  if (long long room = profile.property("sharedMemPerMultiprocessor"); shared > 0 && room > 0)
    fit = std::min(fit, room / shared);
  *blocks = static_cast<int>(fit);
  return success;
}

TMV_EXPORT long long tmv_kernel_attribute(const char* kernel, const char* attribute, long long otherwise) {
  const Profile::Kernel* facts = facts_of(state(), kernel);
  if (!facts) return otherwise;
  auto found = facts->attributes.find(attribute);
  return found == facts->attributes.end() ? otherwise : found->second;
}
