#pragma once

#include <pthread.h>

#include <new>

namespace torchmem::vgpu {

// std::mutex and std::call_once report failure by std::system_error, whose static constructor would then run
// in every program that the library is loaded into. These two need nothing but libc.
class Mutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// An object made at first use that lives as long as the process: other libraries may still call while it
// ends.
template <class T>
class Immortal {
 public:
  T& get() {
    if (T* made = __atomic_load_n(&object_, __ATOMIC_ACQUIRE)) return *made;
    mutex_.lock();
    if (!object_) __atomic_store_n(&object_, new (storage_) T(), __ATOMIC_RELEASE);
    mutex_.unlock();
    return *object_;
  }

 private:
  Mutex mutex_;
  T* object_ = nullptr;
  alignas(T) unsigned char storage_[sizeof(T)]{};
};

}  // namespace torchmem::vgpu
