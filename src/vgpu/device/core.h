#pragma once

#include <cstddef>
#include <cstdint>

// The virtual GPU's state, as the thin vendor libraries see it. All of them are loaded beside the core
// library (libtorchmem_vgpu.so), which is preloaded first, and find these functions in the global scope.
//
// Every function returns a status unless it says otherwise. Statuses are numbers that cudaError_t and
// CUresult share, so that a library passes them on as they are. Addresses are device addresses: nothing is
// mapped there. Sizes are bytes. No function throws; all may be called from any thread.
namespace torchmem::vgpu {

enum Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  no_device = 100,
  invalid_device = 101,
  invalid_context = 201,
  invalid_handle = 400,
  not_ready = 600,
  already_mapped = 208,
  not_mapped = 211,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_unmatched = 903,
  capture_unjoined = 904,
  illegal_state = 401,
  not_found = 500,
  peer_already_enabled = 704,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
};

enum class MemoryKind : int { unregistered = 0, host = 1, device = 2 };

struct PointerInfo {
  MemoryKind kind = MemoryKind::unregistered;
  int device = -2;        // cudaInvalidDeviceId
  uint64_t base = 0;      // of the allocation or mapping
  uint64_t bytes = 0;     // of the same
  uint64_t identity = 0;  // a number that no other allocation of this process has
};

struct CaptureInfo {
  int status = 0;  // 0 none, 1 active, 2 invalidated
  unsigned long long id = 0;
  void* graph = nullptr;
};

// What makes the driver or a library take device memory of its own, outside PyTorch's allocator.
enum class Load : int {
  code = 0,   // the first kernel of a context
  kernel,     // the first one that needs more local memory than a fresh context has: all but random numbers
  assertion,  // the first kernel that checks indices on the device
  dropout,    // the first dropout kernel
  cublas_handle,       // every cublasCreate
  cublas_kernel,       // a matrix product
  cudnn_handle,        // every cudnnCreate
  convolution_plan,    // a convolution's plan is sought
  convolution_kernel,  // a convolution runs
  recurrent,           // a recurrent network is set up
  cufft_plan,
  cusolver_handle,
  kinds
};

}  // namespace torchmem::vgpu

extern "C" {

// Devices.
int tmv_device_count();               // 0 when no profile could be read or CUDA_VISIBLE_DEVICES hides all
int tmv_current_device();             // of this thread
int tmv_set_device(int device);       // makes the device's context, as the runtime does since CUDA 12
bool tmv_context_active(int device);  // whether this process has a context there
int tmv_activate(int device);         // makes the context
int tmv_attribute(int device, int attribute, int* value);
// A field of cudaDeviceProp by its name: up to `count` numbers. Returns how many the profile has, 0 for none.
int tmv_property(int device, const char* name, long long* values, int count);
const char* tmv_device_name(int device);
int tmv_limit(int device, int limit, size_t* value);
int tmv_set_limit(int device, int limit, size_t value);
// "driver", "runtime", "cublas", "cudnn", ...: the profile's number, 0 when it has none.
int tmv_version(const char* what);
void tmv_uuid(int device, unsigned char bytes[16]);
void tmv_pci(int device, int* domain, int* bus, int* slot);

// Device memory.
int tmv_malloc(int device, size_t bytes, uint64_t* address);
int tmv_free(uint64_t address);
int tmv_mem_info(int device, size_t* free_bytes, size_t* total_bytes);
// What the context, loaded kernels and libraries hold on the device beside what was asked for.
size_t tmv_context_bytes(int device);
void tmv_pointer(uint64_t address, torchmem::vgpu::PointerInfo* info);
void tmv_loaded(torchmem::vgpu::Load what);

// The driver's virtual-memory API.
int tmv_address_reserve(int device, size_t bytes, size_t alignment, uint64_t* address);
int tmv_address_free(uint64_t address, size_t bytes);
int tmv_physical_create(int device, size_t bytes, uint64_t* handle);
int tmv_physical_release(uint64_t handle);
int tmv_physical_info(uint64_t handle, int* device, size_t* bytes);
int tmv_map(uint64_t address, size_t bytes, uint64_t handle);
int tmv_unmap(uint64_t address, size_t bytes);
int tmv_mapped_handle(uint64_t address, uint64_t* handle);
// Physical memory as a file, which any process that has it can import. It stays the exporter's: an import
// takes none of the device's.
int tmv_physical_export(uint64_t handle, int* file);
int tmv_physical_import(int file, uint64_t* handle);

// --- memory of another process
// ----------------------------------------------------------------------------------------------
constexpr size_t tmv_share_handle_bytes = 64;
int tmv_share(uint64_t address, void* handle);  // of the allocation that the address is in
// Opened once more, it has the address that it has; it is closed when it was closed as often.
int tmv_open_shared(const void* handle, uint64_t* address);
int tmv_close_shared(uint64_t address);

// Host memory. Pinning makes the current device's context, as it does on a real one.
int tmv_host_alloc(size_t bytes, void** pointer);
int tmv_host_free(void* pointer);
int tmv_host_register(void* pointer, size_t bytes);
int tmv_host_unregister(void* pointer);

// Contents. A copy between any two of host and device. The direction follows from the addresses. What the
// device's contents are known for comes back; everything else is assumed (assumptions.h) and counted. The
// second pair is for work given to a stream: while it is being captured the copy is a node of the graph.
int tmv_copy(void* destination, const void* source, size_t bytes);
int tmv_fill(uint64_t address, int byte, size_t bytes);
int tmv_copy_on(void* stream, void* destination, const void* source, size_t bytes);
int tmv_fill_on(void* stream, uint64_t address, int byte, size_t bytes);

// Streams, events, graphs. Handles are opaque and never null. Work is done the moment it is given.
int tmv_stream_create(int device, int priority, unsigned flags, void** stream);
int tmv_stream_destroy(void* stream);
int tmv_stream_priority(void* stream, int* priority);
// capture_unsupported, and the capture is lost, while the stream is capturing.
int tmv_stream_sync(void* stream);
int tmv_device_sync();
// The host synchronizes with a stream or an event, or with all: it waits for what others have to do with
// their work (values.h, tmv_stream_awaits). The other functions here never wait.
void tmv_host_waits(void* stream_or_event);
void tmv_host_waits_for_all();
int tmv_stream_device(void* stream, int* device);
int tmv_event_create(unsigned flags, void** event);
int tmv_event_destroy(void* event);
int tmv_event_record(void* event, void* stream);
int tmv_event_query(void* event);
int tmv_event_elapsed(float* milliseconds, void* start, void* end);
int tmv_stream_wait(void* stream, void* event);
int tmv_capture_begin(void* stream, int mode);
int tmv_capture_end(void* stream, void** graph);
int tmv_capture_info(void* stream, torchmem::vgpu::CaptureInfo* info);
int tmv_capture_mode_exchange(int mode);
void tmv_launched(void* stream);  // a kernel was given to the stream: a node while it is capturing
size_t tmv_graph_nodes(void* graph);
int tmv_graph_destroy(void* graph);
int tmv_graph_instantiate(void* graph, void** executable);
int tmv_graph_exec_destroy(void* executable);
// Does what was captured, in order. False when there is no such thing.
bool tmv_graph_launch(void* executable);

// Kernels.
void tmv_kernel_register(const void* host_function, const char* name);
const char* tmv_kernel_name(const void* host_function);  // "" when unknown
void tmv_kernel_first_launch(const void* host_function);
// Blocks per multiprocessor: the profile's record for this kernel and block, else what the numbers of threads
// and the shared memory allow.
int tmv_occupancy(int device, const char* kernel, int block_threads, size_t dynamic_shared_bytes,
                  int* blocks);
// One of a kernel's attributes from the profile's records (keys: shared, registers, max_threads, local,
// constant). Returns the value, or `otherwise`.
long long tmv_kernel_attribute(const char* kernel, const char* attribute, long long otherwise);
}
