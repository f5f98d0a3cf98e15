// libtorchmem_join.so, preloaded by `torchmem run` into a program on a real GPU: it loads the agent
// (TORCHMEM_AGENT) before PyTorch's allocator has its first segment, as the virtual GPU does there. It wraps
// the two functions by which the allocator gets one, and changes nothing that they do: cudaMalloc, and for
// expandable segments the driver's cuMemCreate, which PyTorch asks the runtime for by name. Needs libc alone;
// a program that uses no device never notices it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/process_state.h"

#define CUDART "libcudart.so." TORCHMEM_CUDA_MAJOR

// Public signatures of the CUDA runtime; 0 is cudaSuccess, 34 cudaErrorStubLibrary.
typedef int (*malloc_function)(void**, size_t);
typedef int (*create_function)(unsigned long long*, size_t, const void*, unsigned long long);
typedef int (*entry_point_function)(const char*, void**, unsigned, unsigned long long, void*);
typedef int (*count_function)(int*);

static void* cudart(void) {
  // Python opens its libraries locally, so the next one in the global order may be none.
  static void* library;
  if (!library) library = dlopen(CUDART, RTLD_NOW | RTLD_NOLOAD);
  return library;
}

static void tell_launcher(void) {
  const char* directory = getenv("TORCHMEM_RUN_DIR");
  struct torchmem_process_state* state = directory ? torchmem_process_state_open(directory) : 0;
  if (!state) return;
  count_function get_count = (count_function)dlsym(cudart(), "cudaGetDeviceCount");
  int count = 0;
  if (get_count && get_count(&count) == 0) state->device_count = (uint64_t)count;
  state->device_used = 1;
  state->allocated = 1;
  torchmem_process_state_close(state);
}

typedef _Bool (*start_function)(void);

static start_function load_agent(void) {
  const char* agent = getenv("TORCHMEM_AGENT");
  if (!agent || !*agent) return 0;
  void* library = dlopen(agent, RTLD_NOW | RTLD_LOCAL);
  start_function start = library ? (start_function)dlsym(library, "torchmem_agent_start") : 0;
  if (!start) fprintf(stderr, "torchmem: joining this program: %s; its peaks are not measured\n", dlerror());
  return start;
}

// Until the allocator is there, which the agent knows, every call asks anew.
static void join(void) {
  static int joined, loaded;
  static start_function start;
  if (__atomic_load_n(&joined, __ATOMIC_RELAXED)) return;
  if (!dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD)) return;  // PyTorch may come later
  if (!__atomic_exchange_n(&loaded, 1, __ATOMIC_ACQ_REL))
    __atomic_store_n(&start, load_agent(), __ATOMIC_RELEASE);
  start_function ready = __atomic_load_n(&start, __ATOMIC_ACQUIRE);
  if (ready && ready()) __atomic_store_n(&joined, 1, __ATOMIC_RELAXED);
}

static void* runtime(const char* name) {
  void* found = cudart() ? dlsym(cudart(), name) : 0;
  return found ? found : dlsym(RTLD_NEXT, name);
}

static void allocating(void) {
  static int told;
  if (!__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED)) tell_launcher();
  join();
}

__attribute__((visibility("default"))) int cudaMalloc(void** pointer, size_t size) {
  static malloc_function next;
  if (!next) next = (malloc_function)runtime("cudaMalloc");
  if (!next) return 34;
  allocating();
  return next(pointer, size);
}

static create_function driver_create;

static int create(unsigned long long* handle, size_t size, const void* properties, unsigned long long flags) {
  allocating();
  return driver_create(handle, size, properties, flags);
}

__attribute__((visibility("default"))) int cudaGetDriverEntryPointByVersion(const char* symbol,
                                                                            void** function, unsigned version,
                                                                            unsigned long long flags,
                                                                            void* answer) {
  static entry_point_function next;
  if (!next) next = (entry_point_function)runtime("cudaGetDriverEntryPointByVersion");
  if (!next) return 34;
  int status = next(symbol, function, version, flags, answer);
  if (status == 0 && function && *function && strcmp(symbol, "cuMemCreate") == 0) {
    driver_create = (create_function)*function;
    *function = (void*)create;
  }
  return status;
}
