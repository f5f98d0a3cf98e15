#include "reductions.h"

#include <cstring>
#include <map>
#include <mutex>

#include "mutex.h"
#include "numbers.h"
#include "values.h"

namespace torchmem::vgpu::nccl {
namespace {

struct Made {
  Mutex mutex;
  std::map<int, Scalar> scalars;
  int next = own_reduction;
};
Immortal<Made> the_made;

}  // namespace

int make_reduction(const void* scalar, int type, bool on_host) {
  Scalar made;
  const size_t bytes = element_bytes(type);
  if (on_host) {
    std::memcpy(made.bytes, scalar, bytes);
    made.state = tmv_value_known;
  } else {
    made.state = tmv_value_peek(reinterpret_cast<uint64_t>(scalar), bytes, made.bytes);
  }
  Made& all = the_made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.scalars[all.next] = made;
  return all.next++;
}

void forget_reduction(int kind) {
  Made& all = the_made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.scalars.erase(kind);
}

std::optional<Scalar> scalar_of(int kind) {
  Made& all = the_made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.scalars.find(kind);
  if (found == all.scalars.end()) return std::nullopt;
  return found->second;
}

}  // namespace torchmem::vgpu::nccl
