#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "mutex.h"

namespace torchmem::vgpu {

// Ranges of device memory whose values are on their way: what another rank sent is looked for only when
// somebody needs it, as a device would wait then. See tmv_value_pending in values.h.
//
// settle() comes before a read, without the lock that guards the device's contents: it waits. drop() comes
// before a write, with or without that lock; a write that comes while a value is being resolved wins.
// Releasing what was given must not call the device. In a child made by fork, what another thread of the
// parent was resolving stays unknown.
class Pending {
 public:
  struct Arrival {
    void (*resolve)(void* what, void* to, unsigned char* states) = nullptr;
    void (*release)(void* what) = nullptr;  // may be null
    void* what = nullptr;
  };
  // Where a resolved value goes: `keep` is called for each part of one state, with `mutex` held.
  struct Destination {
    Mutex* mutex = nullptr;
    void (*keep)(void* user, uint64_t address, const void* bytes, size_t size, int state) = nullptr;
    void* user = nullptr;
  };

  // From now on the range is waited for; what it waited for before is dropped.
  void add(uint64_t address, size_t size, Arrival arrival);
  // The range is being written, or freed: nothing that arrives for it counts any more.
  void drop(uint64_t address, size_t size);
  // Resolves all that the range waits for. Returns at once when it waits for nothing.
  void settle(uint64_t address, size_t size, const Destination& destination);
  // Whether any of the range is waited for.
  bool waits(uint64_t address, size_t size);

 private:
  struct Value;
  struct Part {
    uint64_t end = 0;
    std::shared_ptr<Value> value;
  };
  using Parts = std::map<uint64_t, Part>;  // disjoint

  // All of these want the lock held.
  Parts::iterator first_in(uint64_t address, uint64_t end);
  void cut(uint64_t address, uint64_t end);
  std::shared_ptr<Value> next_in(uint64_t address, uint64_t end);
  void resolve(const std::shared_ptr<Value>& value, const Destination& destination);

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t resolved_ = PTHREAD_COND_INITIALIZER;
  Parts parts_;
  std::atomic<size_t> count_{0};  // of parts: most programs never have one
};

}  // namespace torchmem::vgpu
