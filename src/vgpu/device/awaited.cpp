#include "awaited.h"

#include <mutex>
#include <utility>

namespace torchmem::vgpu {

// Released with the last stream or event that has it.
struct Awaited::Held {
  Held(const void* its_key, Work its_work) : key(its_key), work(its_work) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (work.release) work.release(work.what);
  }

  const void* const key;
  const Work work;
  std::atomic<bool> done{false};
  uint64_t number = 0;  // later work of a key has a larger one
};

// Of two with the same key the later one stays; what is done goes.
void Awaited::put(Set& set, const std::shared_ptr<Held>& held) {
  if (held->done) return;
  for (std::shared_ptr<Held>& one : set) {
    if (one->key != held->key) continue;
    if (one->number < held->number) one = held;
    return;
  }
  set.push_back(held);
}

void Awaited::add(void* stream, const void* key, Work work) {
  auto held = std::make_shared<Held>(key, work);
  static std::atomic<uint64_t> numbers{0};
  held->number = numbers.fetch_add(1) + 1;
  std::lock_guard<Mutex> lock(mutex_);
  used_ = true;
  put(sets_[stream], held);
}

void Awaited::record(void* event, void* stream) {
  if (!used_.load(std::memory_order_relaxed)) return;
  std::lock_guard<Mutex> lock(mutex_);
  auto found = sets_.find(stream);
  Set set = found == sets_.end() ? Set() : found->second;
  std::erase_if(set, [](const std::shared_ptr<Held>& held) { return held->done.load(); });
  if (set.empty())
    sets_.erase(event);
  else
    sets_[event] = std::move(set);
}

void Awaited::wait(void* stream, void* event) {
  if (!used_.load(std::memory_order_relaxed)) return;
  std::lock_guard<Mutex> lock(mutex_);
  auto found = sets_.find(event);
  if (found == sets_.end() || stream == event) return;
  const Set from = found->second;
  Set& to = sets_[stream];
  for (const std::shared_ptr<Held>& held : from) put(to, held);
}

void Awaited::forget(void* stream_or_event) {
  if (!used_.load(std::memory_order_relaxed)) return;
  std::lock_guard<Mutex> lock(mutex_);
  sets_.erase(stream_or_event);
}

void Awaited::wait_for(const Set& set) {
  for (const std::shared_ptr<Held>& held : set) {
    if (held->done) continue;
    held->work.wait(held->work.what);
    held->done = true;
  }
}

void Awaited::synchronize(void* stream_or_event) {
  if (!used_.load(std::memory_order_relaxed)) return;
  Set set;
  {
    std::lock_guard<Mutex> lock(mutex_);
    auto found = sets_.find(stream_or_event);
    if (found != sets_.end()) set = found->second;
  }
  wait_for(set);
  std::lock_guard<Mutex> lock(mutex_);
  auto found = sets_.find(stream_or_event);
  if (found == sets_.end()) return;
  std::erase_if(found->second, [](const std::shared_ptr<Held>& held) { return held->done.load(); });
  if (found->second.empty()) sets_.erase(found);
}

void Awaited::synchronize() {
  if (!used_.load(std::memory_order_relaxed)) return;
  Set all;
  {
    std::lock_guard<Mutex> lock(mutex_);
    for (const auto& [owner, set] : sets_)
      for (const std::shared_ptr<Held>& held : set) put(all, held);
  }
  wait_for(all);
  std::lock_guard<Mutex> lock(mutex_);
  for (auto it = sets_.begin(); it != sets_.end();) {
    std::erase_if(it->second, [](const std::shared_ptr<Held>& held) { return held->done.load(); });
    it = it->second.empty() ? sets_.erase(it) : std::next(it);
  }
}

}  // namespace torchmem::vgpu
