#include "core.h"
#include "export.h"
#include "result.h"

using torchmem::vgpu::CaptureInfo;
using torchmem::vgpu::result;

TMV_EXPORT cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return result(tmv_stream_create(tmv_current_device(), 0, 0, reinterpret_cast<void**>(stream)));
}

TMV_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return result(tmv_stream_create(tmv_current_device(), 0, flags, reinterpret_cast<void**>(stream)));
}

TMV_EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return result(tmv_stream_create(tmv_current_device(), priority, flags, reinterpret_cast<void**>(stream)));
}

TMV_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream) { return result(tmv_stream_destroy(stream)); }

TMV_EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return result(tmv_stream_priority(stream, priority));
}

TMV_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  int status = tmv_stream_sync(stream);
  if (status == torchmem::vgpu::success) tmv_host_waits(stream);
  return result(status);
}

TMV_EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream) { return result(tmv_stream_sync(stream)); }

TMV_EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return result(tmv_stream_wait(stream, event));
}

// What the host is to do when the stream gets there; it is there already.
TMV_EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                             unsigned) {
  callback(stream, cudaSuccess, data);
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return result(tmv_event_create(0, reinterpret_cast<void**>(event)));
}

TMV_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return result(tmv_event_create(flags, reinterpret_cast<void**>(event)));
}

TMV_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event) { return result(tmv_event_destroy(event)); }

TMV_EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return result(tmv_event_record(event, stream));
}

TMV_EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return result(tmv_event_record(event, stream));
}

TMV_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event) { return result(tmv_event_query(event)); }

TMV_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  int status = tmv_event_query(event);
  if (status == torchmem::vgpu::success) tmv_host_waits(event);
  return result(status);
}

TMV_EXPORT cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return result(tmv_event_elapsed(milliseconds, start, end));
}

TMV_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return result(tmv_capture_begin(stream, mode));
}

TMV_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return result(tmv_capture_end(stream, reinterpret_cast<void**>(graph)));
}

TMV_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  CaptureInfo info;
  int error = tmv_capture_info(stream, &info);
  *status = static_cast<cudaStreamCaptureStatus>(info.status);
  return result(error);
}

TMV_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                                unsigned long long* id, cudaGraph_t* graph,
                                                const cudaGraphNode_t** dependencies,
                                                const cudaGraphEdgeData** edges, size_t* count) {
  CaptureInfo info;
  int error = tmv_capture_info(stream, &info);
  if (status) *status = static_cast<cudaStreamCaptureStatus>(info.status);
  if (id) *id = info.id;
  if (graph) *graph = static_cast<cudaGraph_t>(info.graph);
  if (dependencies) *dependencies = nullptr;
  if (edges) *edges = nullptr;
  if (count) *count = 0;
  return result(error);
}

TMV_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (!mode) return result(cudaErrorInvalidValue);
  *mode = static_cast<cudaStreamCaptureMode>(tmv_capture_mode_exchange(*mode));
  return result(cudaSuccess);
}

// A graph knows how many nodes it has; the nodes themselves have no identity.
TMV_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!count) return result(cudaErrorInvalidValue);
  size_t have = tmv_graph_nodes(graph);
  for (size_t i = 0; nodes && i < *count; ++i) nodes[i] = nullptr;
  if (!nodes || have < *count) *count = have;
  return result(cudaSuccess);
}

TMV_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return result(tmv_graph_destroy(graph)); }

TMV_EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                     unsigned long long) {
  return result(tmv_graph_instantiate(graph, reinterpret_cast<void**>(executable)));
}

TMV_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return result(tmv_graph_exec_destroy(executable));
}

TMV_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  return result(tmv_graph_launch(executable) ? cudaSuccess : cudaErrorInvalidValue);
}
