// libtorchmem_join.so, preloaded by `torchmem run` into a program on a real GPU: it loads the agent (TORCHMEM_AGENT) at the
// program's first device allocation, as the virtual GPU does there. It wraps cudaMalloc, which PyTorch's allocator calls for its
// first segment, and changes nothing else. Needs libc alone; a program that never allocates on a device never notices it.
//
// With expandable_segments:True PyTorch does not call cudaMalloc, so such a program is not joined, and `torchmem run` says so.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/process_state.h"

#define CUDART "libcudart.so." TORCHMEM_CUDA_MAJOR

// Public signatures of the CUDA runtime; 0 is cudaSuccess, 34 cudaErrorStubLibrary.
typedef int (*malloc_function)(void**, size_t);
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
  torchmem_process_state_close(state);
}

static void join(void) {
  static int joined;
  if (__atomic_exchange_n(&joined, 1, __ATOMIC_RELAXED)) return;
  tell_launcher();
  const char* agent = getenv("TORCHMEM_AGENT");
  void* library = agent && *agent ? dlopen(agent, RTLD_NOW | RTLD_LOCAL) : 0;
  void (*start)(void) = library ? (void (*)(void))dlsym(library, "torchmem_agent_start") : 0;
  if (start) {
    start();
  } else if (agent) {
    fprintf(stderr, "torchmem: joining this program: %s; its peaks are not measured\n", dlerror());
  }
}

__attribute__((visibility("default"))) int cudaMalloc(void** pointer, size_t size) {
  static malloc_function next;
  if (!next && cudart()) next = (malloc_function)dlsym(cudart(), "cudaMalloc");
  if (!next) next = (malloc_function)dlsym(RTLD_NEXT, "cudaMalloc");
  if (!next) return 34;
  join();
  return next(pointer, size);
}
