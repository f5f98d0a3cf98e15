#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "mutex.h"

namespace torchmem::vgpu {

// What streams wait for that others do: a collective ends when all its ranks have begun it, so a host that
// synchronizes with its stream waits for them (a barrier is nothing else). Work moves from stream to stream
// with events, as on a device. No lock may be held where a function waits; none of them is held while it
// does.
class Awaited {
 public:
  struct Work {
    void (*wait)(void* what) = nullptr;
    void (*release)(void* what) = nullptr;
    void* what = nullptr;
  };

  // The stream's work now includes `work`. It takes the place of what the stream had of the same `key`:
  // whoever waits for the later one has waited for the earlier one.
  void add(void* stream, const void* key, Work work);
  void record(void* event, void* stream);
  void wait(void* stream, void* event);
  void forget(void* stream_or_event);
  // The host waits: for what the stream or event has, or for all.
  void synchronize(void* stream_or_event);
  void synchronize();

 private:
  struct Held;
  using Set = std::vector<std::shared_ptr<Held>>;
  static void put(Set& set, const std::shared_ptr<Held>& held);
  void wait_for(const Set& set);

  Mutex mutex_;
  std::unordered_map<void*, Set> sets_;  // of streams and events
  std::atomic<bool> used_{false};        // most programs never have any
};

}  // namespace torchmem::vgpu
