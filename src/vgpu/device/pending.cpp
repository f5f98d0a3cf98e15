#include "pending.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace torchmem::vgpu {

// Kept by its parts and by who is resolving it; the last of them releases what it was given.
struct Pending::Value {
  Value(uint64_t begin, size_t bytes, Arrival given) : address(begin), size(bytes), arrival(given) {}
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() {
    if (arrival.release) arrival.release(arrival.what);
  }

  const uint64_t address;
  const size_t size;
  const Arrival arrival;
  bool resolving = false;
  pthread_t resolver{};
  pid_t process = 0;  // of the resolver
};

namespace {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) { pthread_mutex_lock(&mutex_); }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

Pending::Parts::iterator Pending::first_in(uint64_t address, uint64_t end) {
  auto it = parts_.upper_bound(address);
  if (it != parts_.begin() && std::prev(it)->second.end > address) return std::prev(it);
  return it != parts_.end() && it->first < end ? it : parts_.end();
}

void Pending::cut(uint64_t address, uint64_t end) {
  auto it = first_in(address, end);
  while (it != parts_.end() && it->first < end) {
    uint64_t begin = it->first;
    Part part = std::move(it->second);
    it = parts_.erase(it);
    if (begin < address) parts_.emplace(begin, Part{address, part.value});
    if (part.end > end) parts_.emplace(end, Part{part.end, part.value});
  }
  count_.store(parts_.size(), std::memory_order_relaxed);
}

void Pending::add(uint64_t address, size_t size, Arrival arrival) {
  auto value = std::make_shared<Value>(address, size, arrival);
  if (size == 0) return;
  drop(address, size);
  Lock lock(mutex_);
  parts_.emplace(address, Part{address + size, std::move(value)});
  count_.store(parts_.size(), std::memory_order_relaxed);
}

void Pending::drop(uint64_t address, size_t size) {
  if (size == 0 || count_.load(std::memory_order_relaxed) == 0) return;
  std::vector<std::shared_ptr<Value>> held;  // so that the last of them goes without the lock
  Lock lock(mutex_);
  uint64_t end = address + size;
  for (auto it = first_in(address, end); it != parts_.end() && it->first < end; ++it)
    held.push_back(it->second.value);
  cut(address, end);
  // `lock` is let go of before `held`, as it was made after.
}

// What the range waits for and this thread may wait for: not a value that it is resolving itself.
std::shared_ptr<Pending::Value> Pending::next_in(uint64_t address, uint64_t end) {
  for (auto it = first_in(address, end); it != parts_.end() && it->first < end; ++it) {
    const Value& value = *it->second.value;
    if (!value.resolving || (value.process == getpid() && !pthread_equal(value.resolver, pthread_self())))
      return it->second.value;
  }
  return nullptr;
}

void Pending::settle(uint64_t address, size_t size, const Destination& destination) {
  if (size == 0 || count_.load(std::memory_order_relaxed) == 0) return;
  for (;;) {
    std::shared_ptr<Value> value;  // outlives the lock
    Lock lock(mutex_);
    value = next_in(address, address + size);
    if (!value) return;
    if (value->resolving) {
      pthread_cond_wait(&resolved_, &mutex_);
      continue;
    }
    value->resolving = true;
    value->resolver = pthread_self();
    value->process = getpid();
    pthread_mutex_unlock(&mutex_);
    resolve(value, destination);
    pthread_mutex_lock(&mutex_);
    pthread_cond_broadcast(&resolved_);
  }
}

// Called without this object's lock. The contents' lock is held while parts are taken and kept, so that a
// write, which drops them before it takes that lock, comes before both or after.
void Pending::resolve(const std::shared_ptr<Value>& value, const Destination& destination) {
  std::vector<unsigned char> bytes(value->size), states(value->size);
  value->arrival.resolve(value->arrival.what, bytes.data(), states.data());
  uint64_t end = value->address + value->size;
  destination.mutex->lock();
  std::vector<std::pair<uint64_t, uint64_t>> left;
  {
    Lock lock(mutex_);
    for (auto it = first_in(value->address, end); it != parts_.end() && it->first < end;) {
      if (it->second.value != value) {
        ++it;
        continue;
      }
      left.emplace_back(it->first, it->second.end);
      it = parts_.erase(it);
    }
    count_.store(parts_.size(), std::memory_order_relaxed);
  }
  for (auto [begin, stop] : left) {
    for (size_t at = begin - value->address, all = stop - value->address; at < all;) {
      size_t end_of_state = at + 1;
      while (end_of_state < all && states[end_of_state] == states[at]) ++end_of_state;
      destination.keep(destination.user, value->address + at, bytes.data() + at, end_of_state - at,
                       states[at]);
      at = end_of_state;
    }
  }
  destination.mutex->unlock();
}

bool Pending::waits(uint64_t address, size_t size) {
  if (size == 0 || count_.load(std::memory_order_relaxed) == 0) return false;
  Lock lock(mutex_);
  return first_in(address, address + size) != parts_.end();
}

}  // namespace torchmem::vgpu
