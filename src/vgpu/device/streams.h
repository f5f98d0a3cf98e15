#pragma once

#include <time.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "mutex.h"

// What streams.cpp and graphs.cpp share: the state of streams, events, captures and graphs.
namespace torchmem::vgpu {

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
// Made at first use and never destroyed.
Streams& all_streams();

// The stream of that handle, null when there is none. The mutex is held.
Stream* find_stream(Streams& all, void* handle);

}  // namespace torchmem::vgpu
