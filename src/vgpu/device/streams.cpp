// Streams and events. The device does everything the moment it is given, so that a stream is never busy; what
// is left is the state that PyTorch asks about, and which streams a capture has drawn in (graphs.cpp).
#include "streams.h"

#include <ctime>
#include <mutex>
#include <utility>

#include "awaited.h"
#include "device.h"
#include "export.h"
#include "values.h"

using namespace torchmem::vgpu;

namespace {

Immortal<Streams> the_streams;
Immortal<Awaited> the_awaited;

constexpr unsigned event_disable_timing = 2;

// The caller gave work to `stream` that a capture cannot hold.
int lose_capture(Stream& stream) {
  stream.capture->invalidated = true;
  return capture_unsupported;
}

}  // namespace

namespace torchmem::vgpu {

Streams& all_streams() { return the_streams.get(); }

Stream* find_stream(Streams& all, void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return &all.legacy;
  auto found = all.streams.find(handle);
  return found == all.streams.end() ? nullptr : found->second.get();
}

}  // namespace torchmem::vgpu

TMV_EXPORT int tmv_stream_create(int device, int priority, unsigned flags, void** stream) {
  if (!stream) return invalid_value;
  if (int status = tmv_activate(device); status != success) return status;
  Streams& all = all_streams();
  auto made = std::make_unique<Stream>();
  made->device = device;
  made->priority = priority;
  made->flags = flags;
  *stream = made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.streams[*stream] = std::move(made);
  return success;
}

TMV_EXPORT int tmv_stream_destroy(void* stream) {
  the_awaited.get().forget(stream);
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.streams.erase(stream) ? success : invalid_handle;
}

TMV_EXPORT int tmv_stream_priority(void* stream, int* priority) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found || !priority) return invalid_handle;
  *priority = found->priority;
  return success;
}

TMV_EXPORT int tmv_stream_device(void* stream, int* device) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found) return invalid_handle;
  *device = found == &all.legacy ? tmv_current_device() : found->device;
  return success;
}

TMV_EXPORT int tmv_stream_sync(void* stream) {
  Streams& all = all_streams();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return success;
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found) return invalid_handle;
  return found->capture ? lose_capture(*found) : success;
}

TMV_EXPORT int tmv_device_sync() {
  Streams& all = all_streams();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return success;
  std::lock_guard<Mutex> lock(all.mutex);
  for (auto& [handle, stream] : all.streams)
    if (stream->capture) return lose_capture(*stream);
  return success;
}

TMV_EXPORT void tmv_stream_awaits(void* stream, const void* key, void (*wait)(void* what),
                                  void (*release)(void* what), void* what) {
  the_awaited.get().add(stream, key, {wait, release, what});
}

TMV_EXPORT void tmv_host_waits(void* stream_or_event) { the_awaited.get().synchronize(stream_or_event); }

TMV_EXPORT void tmv_host_waits_for_all() { the_awaited.get().synchronize(); }

TMV_EXPORT int tmv_event_create(unsigned flags, void** event) {
  if (!event) return invalid_value;
  Streams& all = all_streams();
  auto made = std::make_unique<Event>();
  made->flags = flags;
  *event = made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.events[*event] = std::move(made);
  return success;
}

TMV_EXPORT int tmv_event_destroy(void* event) {
  the_awaited.get().forget(event);
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.events.erase(event) ? success : invalid_handle;
}

TMV_EXPORT int tmv_event_record(void* event, void* stream) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.events.find(event);
  Stream* on = find_stream(all, stream);
  if (found == all.events.end() || !on) return invalid_handle;
  Event& recorded = *found->second;
  recorded.recorded = true;
  clock_gettime(CLOCK_MONOTONIC, &recorded.time);
  recorded.capture = on->capture;
  recorded.stream = stream;
  the_awaited.get().record(event, stream);
  return success;
}

TMV_EXPORT int tmv_event_query(void* event) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.events.count(event) ? success : invalid_handle;
}

TMV_EXPORT int tmv_event_elapsed(float* milliseconds, void* start, void* end) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  auto from = all.events.find(start);
  auto to = all.events.find(end);
  if (!milliseconds) return invalid_value;
  for (auto event : {from, to})
    if (event == all.events.end() || !event->second->recorded || event->second->flags & event_disable_timing)
      return invalid_handle;
  *milliseconds =
      static_cast<float>(static_cast<double>(to->second->time.tv_sec - from->second->time.tv_sec) * 1e3 +
                         static_cast<double>(to->second->time.tv_nsec - from->second->time.tv_nsec) * 1e-6);
  return success;
}

TMV_EXPORT int tmv_stream_wait(void* stream, void* event) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.events.find(event);
  Stream* waiting = find_stream(all, stream);
  if (found == all.events.end() || !waiting) return invalid_handle;
  the_awaited.get().wait(stream, event);
  Capture* capture = found->second->capture;
  if (!capture) return success;
  if (!waiting->capture && waiting != &all.legacy) {
    waiting->capture = capture;
    capture->joined.insert(stream);
    capture->open.insert(stream);
  }
  if (stream == capture->origin) capture->open.erase(found->second->stream);
  return success;
}
