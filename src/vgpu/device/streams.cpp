// Streams, events and graphs. The device does everything the moment it is given, so that a stream is never
// busy; what is left is the state that PyTorch asks about: is it capturing, which graph, how many nodes.
#include <algorithm>
#include <ctime>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>

#include "awaited.h"
#include "device.h"
#include "export.h"
#include "fidelity.h"
#include "values.h"

using namespace torchmem::vgpu;

namespace {

// What a captured stream was given, in order: a copy, a fill, or work of who computes values (values.h). A
// kernel is a node that does nothing.
struct Node {
  enum class Kind { kernel, copy, fill, work } kind = Kind::kernel;
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  int byte = 0;
  std::shared_ptr<void> work;
};

struct Graph {
  std::vector<Node> nodes;  // that do something
  size_t count = 0;         // of those that the runtime has: kernels too, work not
};

struct Capture {
  unsigned long long id = 0;
  Graph* graph = nullptr;
  void* origin = nullptr;  // the stream that began it
  bool invalidated = false;
  std::set<void*> joined;  // other streams that events have drawn in
  std::set<void*> open;    // of those, the ones that have not come back to the origin
};

struct Stream {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  Capture* capture = nullptr;
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  timespec time{};
  Capture* capture = nullptr;  // the one it was recorded in
  void* stream = nullptr;
};

struct Streams {
  Mutex mutex;
  std::unordered_map<void*, std::unique_ptr<Stream>> streams;
  std::unordered_map<void*, std::unique_ptr<Event>> events;
  std::unordered_map<void*, std::unique_ptr<Graph>> graphs;
  std::unordered_map<void*, std::unique_ptr<Graph>> executables;
  std::map<unsigned long long, std::unique_ptr<Capture>> captures;
  unsigned long long next_capture = 1;
  std::atomic<size_t> capturing{0};
  Stream legacy;  // stream 0 and the per-thread one, which never capture
};
Immortal<Streams> the_streams;
Immortal<Awaited> the_awaited;

constexpr unsigned event_disable_timing = 2;
thread_local int capture_mode = 0;  // cudaStreamCaptureModeGlobal

Stream* find(Streams& all, void* handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return &all.legacy;
  auto found = all.streams.find(handle);
  return found == all.streams.end() ? nullptr : found->second.get();
}

// Whether the stream is being captured: the node is its graph's then.
bool add_node(void* stream, Node&& node) {
  Streams& all = the_streams.get();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found || !found->capture) return false;
  Graph& graph = *found->capture->graph;
  if (node.kind != Node::Kind::work) ++graph.count;
  if (node.kind != Node::Kind::kernel) graph.nodes.push_back(std::move(node));
  return true;
}

// The caller gave work to `stream` that a capture cannot hold.
int lose_capture(Stream& stream) {
  stream.capture->invalidated = true;
  return kCaptureUnsupported;
}

}  // namespace

TMV_EXPORT int tmv_stream_create(int device, int priority, unsigned flags, void** stream) {
  if (!stream) return kInvalidValue;
  if (int status = tmv_activate(device); status != kSuccess) return status;
  Streams& all = the_streams.get();
  auto made = std::make_unique<Stream>();
  made->device = device;
  made->priority = priority;
  made->flags = flags;
  *stream = made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.streams[*stream] = std::move(made);
  return kSuccess;
}

TMV_EXPORT int tmv_stream_destroy(void* stream) {
  the_awaited.get().forget(stream);
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.streams.erase(stream) ? kSuccess : kInvalidHandle;
}

TMV_EXPORT int tmv_stream_priority(void* stream, int* priority) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found || !priority) return kInvalidHandle;
  *priority = found->priority;
  return kSuccess;
}

TMV_EXPORT int tmv_stream_device(void* stream, int* device) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found) return kInvalidHandle;
  *device = found == &all.legacy ? tmv_current_device() : found->device;
  return kSuccess;
}

TMV_EXPORT int tmv_stream_sync(void* stream) {
  Streams& all = the_streams.get();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return kSuccess;
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found) return kInvalidHandle;
  return found->capture ? lose_capture(*found) : kSuccess;
}

TMV_EXPORT int tmv_device_sync() {
  Streams& all = the_streams.get();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return kSuccess;
  std::lock_guard<Mutex> lock(all.mutex);
  for (auto& [handle, stream] : all.streams)
    if (stream->capture) return lose_capture(*stream);
  return kSuccess;
}

TMV_EXPORT void tmv_stream_awaits(void* stream, const void* key, void (*wait)(void* what),
                                  void (*release)(void* what), void* what) {
  the_awaited.get().add(stream, key, {wait, release, what});
}

TMV_EXPORT void tmv_host_waits(void* stream_or_event) { the_awaited.get().synchronize(stream_or_event); }

TMV_EXPORT void tmv_host_waits_for_all() { the_awaited.get().synchronize(); }

TMV_EXPORT int tmv_event_create(unsigned flags, void** event) {
  if (!event) return kInvalidValue;
  Streams& all = the_streams.get();
  auto made = std::make_unique<Event>();
  made->flags = flags;
  *event = made.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.events[*event] = std::move(made);
  return kSuccess;
}

TMV_EXPORT int tmv_event_destroy(void* event) {
  the_awaited.get().forget(event);
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.events.erase(event) ? kSuccess : kInvalidHandle;
}

TMV_EXPORT int tmv_event_record(void* event, void* stream) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.events.find(event);
  Stream* on = find(all, stream);
  if (found == all.events.end() || !on) return kInvalidHandle;
  Event& recorded = *found->second;
  recorded.recorded = true;
  clock_gettime(CLOCK_MONOTONIC, &recorded.time);
  recorded.capture = on->capture;
  recorded.stream = stream;
  the_awaited.get().record(event, stream);
  return kSuccess;
}

TMV_EXPORT int tmv_event_query(void* event) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.events.count(event) ? kSuccess : kInvalidHandle;
}

TMV_EXPORT int tmv_event_elapsed(float* milliseconds, void* start, void* end) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  auto from = all.events.find(start);
  auto to = all.events.find(end);
  if (!milliseconds) return kInvalidValue;
  for (auto event : {from, to})
    if (event == all.events.end() || !event->second->recorded || event->second->flags & event_disable_timing)
      return kInvalidHandle;
  *milliseconds =
      static_cast<float>(static_cast<double>(to->second->time.tv_sec - from->second->time.tv_sec) * 1e3 +
                         static_cast<double>(to->second->time.tv_nsec - from->second->time.tv_nsec) * 1e-6);
  return kSuccess;
}

TMV_EXPORT int tmv_stream_wait(void* stream, void* event) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.events.find(event);
  Stream* waiting = find(all, stream);
  if (found == all.events.end() || !waiting) return kInvalidHandle;
  the_awaited.get().wait(stream, event);
  Capture* capture = found->second->capture;
  if (!capture) return kSuccess;
  if (!waiting->capture && waiting != &all.legacy) {
    waiting->capture = capture;
    capture->joined.insert(stream);
    capture->open.insert(stream);
  }
  if (stream == capture->origin) capture->open.erase(found->second->stream);
  return kSuccess;
}

TMV_EXPORT int tmv_capture_begin(void* stream, int) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found) return kInvalidHandle;
  if (found == &all.legacy) return kCaptureUnsupported;
  if (found->capture) return kIllegalState;
  auto capture = std::make_unique<Capture>();
  capture->id = all.next_capture++;
  capture->origin = stream;
  auto graph = std::make_unique<Graph>();
  capture->graph = graph.get();
  all.graphs[graph.get()] = std::move(graph);
  found->capture = capture.get();
  all.captures[capture->id] = std::move(capture);
  all.capturing.fetch_add(1, std::memory_order_relaxed);
  return kSuccess;
}

TMV_EXPORT int tmv_capture_end(void* stream, void** graph) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found || !graph) return kInvalidHandle;
  *graph = nullptr;
  if (!found->capture) return kIllegalState;
  Capture* capture = found->capture;
  if (capture->origin != stream) return kCaptureUnmatched;
  for (auto& [handle, other] : all.streams)
    if (other->capture == capture) other->capture = nullptr;
  for (auto& [handle, event] : all.events)
    if (event->capture == capture) event->capture = nullptr;
  all.capturing.fetch_sub(1, std::memory_order_relaxed);
  int status = capture->invalidated    ? kCaptureInvalidated
               : capture->open.empty() ? kSuccess
                                       : kCaptureUnjoined;
  if (status == kSuccess)
    *graph = capture->graph;
  else
    all.graphs.erase(capture->graph);
  all.captures.erase(capture->id);
  return status;
}

TMV_EXPORT int tmv_capture_info(void* stream, CaptureInfo* info) {
  Streams& all = the_streams.get();
  *info = CaptureInfo();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return kSuccess;
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  if (!found) return kInvalidHandle;
  if (!found->capture) return kSuccess;
  info->status = found->capture->invalidated ? 2 : 1;
  info->id = found->capture->id;
  info->graph = found->capture->graph;
  return kSuccess;
}

TMV_EXPORT int tmv_capture_mode_exchange(int mode) { return std::exchange(capture_mode, mode); }

TMV_EXPORT size_t tmv_captures() { return the_streams.get().capturing.load(std::memory_order_relaxed); }

TMV_EXPORT bool tmv_is_captured(void* stream) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find(all, stream);
  return found && found->capture;
}

TMV_EXPORT void tmv_launched(void* stream) { add_node(stream, Node()); }

TMV_EXPORT int tmv_copy_on(void* stream, void* destination, const void* source, size_t bytes) {
  Node node;
  node.kind = Node::Kind::copy;
  node.to = destination;
  node.from = source;
  node.bytes = bytes;
  return add_node(stream, std::move(node)) ? kSuccess : tmv_copy(destination, source, bytes);
}

TMV_EXPORT int tmv_fill_on(void* stream, uint64_t address, int byte, size_t bytes) {
  Node node;
  node.kind = Node::Kind::fill;
  node.to = reinterpret_cast<void*>(address);
  node.byte = byte;
  node.bytes = bytes;
  return add_node(stream, std::move(node)) ? kSuccess : tmv_fill(address, byte, bytes);
}

TMV_EXPORT bool tmv_capture_work(void* stream, void* work) {
  Node node;
  node.kind = Node::Kind::work;
  node.work = std::shared_ptr<void>(work, [](void* gone) { tmv_captured_work(gone, false); });
  return add_node(stream, std::move(node));
}

TMV_EXPORT size_t tmv_graph_nodes(void* graph) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.graphs.find(graph);
  return found == all.graphs.end() ? 0 : found->second->count;
}

TMV_EXPORT int tmv_graph_destroy(void* graph) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.graphs.erase(graph) ? kSuccess : kInvalidValue;
}

TMV_EXPORT int tmv_graph_instantiate(void* graph, void** executable) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.graphs.find(graph);
  if (found == all.graphs.end() || !executable) return kInvalidValue;
  auto made = std::make_unique<Graph>(*found->second);
  *executable = made.get();
  all.executables[*executable] = std::move(made);
  return kSuccess;
}

TMV_EXPORT int tmv_graph_exec_destroy(void* executable) {
  Streams& all = the_streams.get();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.executables.erase(executable) ? kSuccess : kInvalidValue;
}

TMV_EXPORT bool tmv_graph_launch(void* executable) {
  Streams& all = the_streams.get();
  std::vector<Node> nodes;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    auto found = all.executables.find(executable);
    if (found == all.executables.end()) return false;
    nodes = found->second->nodes;
  }
  for (const Node& node : nodes) {
    if (node.kind == Node::Kind::copy)
      tmv_copy(node.to, node.from, node.bytes);
    else if (node.kind == Node::Kind::fill)
      tmv_fill(reinterpret_cast<uint64_t>(node.to), node.byte, node.bytes);
    else
      tmv_captured_work(node.work.get(), true);
  }
  return true;
}
