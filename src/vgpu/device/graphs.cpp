// Captures and graphs. While a stream is captured nothing happens: what it is given becomes the graph's, and
// happens at each launch.
#include <mutex>
#include <utility>

#include "assumptions.h"
#include "device.h"
#include "export.h"
#include "streams.h"
#include "values.h"

using namespace torchmem::vgpu;

namespace {

thread_local int capture_mode = 0;  // cudaStreamCaptureModeGlobal

// Whether the stream is being captured: the node is its graph's then.
bool add_node(void* stream, Node&& node) {
  Streams& all = all_streams();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found || !found->capture) return false;
  Graph& graph = *found->capture->graph;
  if (node.kind != Node::Kind::work) ++graph.count;
  if (node.kind != Node::Kind::kernel) graph.nodes.push_back(std::move(node));
  return true;
}

}  // namespace

TMV_EXPORT int tmv_capture_begin(void* stream, int) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found) return invalid_handle;
  if (found == &all.legacy) return capture_unsupported;
  if (found->capture) return illegal_state;
  auto capture = std::make_unique<Capture>();
  capture->id = all.next_capture++;
  capture->origin = stream;
  auto graph = std::make_unique<Graph>();
  capture->graph = graph.get();
  all.graphs[graph.get()] = std::move(graph);
  found->capture = capture.get();
  all.captures[capture->id] = std::move(capture);
  all.capturing.fetch_add(1, std::memory_order_relaxed);
  return success;
}

TMV_EXPORT int tmv_capture_end(void* stream, void** graph) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found || !graph) return invalid_handle;
  *graph = nullptr;
  if (!found->capture) return illegal_state;
  Capture* capture = found->capture;
  if (capture->origin != stream) return capture_unmatched;
  for (auto& [handle, other] : all.streams)
    if (other->capture == capture) other->capture = nullptr;
  for (auto& [handle, event] : all.events)
    if (event->capture == capture) event->capture = nullptr;
  all.capturing.fetch_sub(1, std::memory_order_relaxed);
  int status = capture->invalidated    ? capture_invalidated
               : capture->open.empty() ? success
                                       : capture_unjoined;
  if (status == success)
    *graph = capture->graph;
  else
    all.graphs.erase(capture->graph);
  all.captures.erase(capture->id);
  return status;
}

TMV_EXPORT int tmv_capture_info(void* stream, CaptureInfo* info) {
  Streams& all = all_streams();
  *info = CaptureInfo();
  if (all.capturing.load(std::memory_order_relaxed) == 0) return success;
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  if (!found) return invalid_handle;
  if (!found->capture) return success;
  info->status = found->capture->invalidated ? 2 : 1;
  info->id = found->capture->id;
  info->graph = found->capture->graph;
  return success;
}

TMV_EXPORT int tmv_capture_mode_exchange(int mode) { return std::exchange(capture_mode, mode); }

TMV_EXPORT size_t tmv_captures() { return all_streams().capturing.load(std::memory_order_relaxed); }

TMV_EXPORT bool tmv_is_captured(void* stream) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  Stream* found = find_stream(all, stream);
  return found && found->capture;
}

TMV_EXPORT void tmv_launched(void* stream) { add_node(stream, Node()); }

TMV_EXPORT int tmv_copy_on(void* stream, void* destination, const void* source, size_t bytes) {
  Node node;
  node.kind = Node::Kind::copy;
  node.to = destination;
  node.from = source;
  node.bytes = bytes;
  return add_node(stream, std::move(node)) ? success : tmv_copy(destination, source, bytes);
}

TMV_EXPORT int tmv_fill_on(void* stream, uint64_t address, int byte, size_t bytes) {
  Node node;
  node.kind = Node::Kind::fill;
  node.to = reinterpret_cast<void*>(address);
  node.byte = byte;
  node.bytes = bytes;
  return add_node(stream, std::move(node)) ? success : tmv_fill(address, byte, bytes);
}

TMV_EXPORT bool tmv_capture_work(void* stream, void* work) {
  Node node;
  node.kind = Node::Kind::work;
  node.work = std::shared_ptr<void>(work, [](void* gone) { tmv_captured_work(gone, false); });
  return add_node(stream, std::move(node));
}

TMV_EXPORT size_t tmv_graph_nodes(void* graph) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.graphs.find(graph);
  return found == all.graphs.end() ? 0 : found->second->count;
}

TMV_EXPORT int tmv_graph_destroy(void* graph) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.graphs.erase(graph) ? success : invalid_value;
}

TMV_EXPORT int tmv_graph_instantiate(void* graph, void** executable) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  auto found = all.graphs.find(graph);
  if (found == all.graphs.end() || !executable) return invalid_value;
  auto made = std::make_unique<Graph>(*found->second);
  *executable = made.get();
  all.executables[*executable] = std::move(made);
  return success;
}

TMV_EXPORT int tmv_graph_exec_destroy(void* executable) {
  Streams& all = all_streams();
  std::lock_guard<Mutex> lock(all.mutex);
  return all.executables.erase(executable) ? success : invalid_value;
}

TMV_EXPORT bool tmv_graph_launch(void* executable) {
  Streams& all = all_streams();
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
