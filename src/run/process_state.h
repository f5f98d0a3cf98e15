// The state that a process under `torchmem run` shares with the launcher: one small file, mapped into memory
// by the process's agent (and by the virtual GPU's core, for its counters) and read by the launcher at the
// end. Because the numbers live in a shared mapping they outlive _exit, signals and kills.
//
// Plain C, no dependencies beyond POSIX. All numbers are 64-bit, native endian; sizes in bytes. A writer
// stores whole aligned 64-bit words, so a reader never sees half a number.
//
// The directory comes from the environment variable TORCHMEM_RUN_DIR; the file is `process-<pid>` in it. A
// process that finds no room for its file on the file system says so in one that the launcher made room for.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// NOLINTBEGIN(modernize-use-nullptr): plain C
#define TORCHMEM_PROCESS_STATE_MAGIC 0x31656d6368726f74ull /* "torchme1" */
#define TORCHMEM_PROCESS_STATE_VERSION 1ull
#define TORCHMEM_PROCESS_STATE_DEVICES 64
#define TORCHMEM_PROCESS_STATE_COMMAND 1024

#ifdef __cplusplus
extern "C" {
#endif

struct torchmem_device_state {
  uint64_t used;            // 1 once this process allocated on the device
  uint64_t allocated;       // the caching allocator's allocated_bytes.all.current
  uint64_t reserved;        // reserved_bytes.all.current
  uint64_t peak_allocated;  // the process's peak, whatever the program did to PyTorch's own peaks
  uint64_t peak_reserved;
  uint64_t out_of_memory;  // out-of-memory errors that PyTorch raised
  uint64_t outside;        // by cudaMalloc, and held by no allocator of PyTorch's; on a virtual device
  uint64_t peak_outside;   // the most that ever was
};

struct torchmem_process_state {
  uint64_t magic;    // TORCHMEM_PROCESS_STATE_MAGIC, written last when the file is made
  uint64_t version;  // TORCHMEM_PROCESS_STATE_VERSION
  uint64_t pid;
  uint64_t parent_pid;
  uint64_t device_used;   // 1 once CUDA was initialised for work (a context exists) in this process
  uint64_t device_count;  // devices that this process sees
  uint64_t unmodelled_calls;
  uint64_t assumed_values;
  uint64_t estimated_workspaces;
  uint64_t agent_loaded;  // 1 when the agent joined: without it the peaks above are not measured
  uint64_t peak_pinned;   // the most host memory that was pinned at once; on a virtual device
  uint64_t allocated;     // 1 once device memory was given, by whatever call
  uint64_t no_room;       // the launcher's own, of a process that had no room for its numbers
  uint64_t unused[3];
  char command[TORCHMEM_PROCESS_STATE_COMMAND];  // the command line, arguments joined by blanks,
                                                 // NUL-terminated
  struct torchmem_device_state devices[TORCHMEM_PROCESS_STATE_DEVICES];
};

// Fills `command` from /proc/self/cmdline (arguments joined by blanks, cut to fit).
static inline void torchmem_process_state_command(char* command) {
  int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, command, TORCHMEM_PROCESS_STATE_COMMAND - 1);
  if (file >= 0) close(file);
  if (length < 0) length = 0;
  while (length > 0 && command[length - 1] == '\0') --length;
  for (ssize_t i = 0; i < length; ++i) {
    if (command[i] == '\0' || command[i] == '\n') command[i] = ' ';
  }
  command[length] = '\0';
}

// The processes that had no room, in `no-room` of the directory: one file for all, made by the launcher.
#define TORCHMEM_NO_ROOM_PROCESSES 32
#define TORCHMEM_NO_ROOM_COMMAND 248

struct torchmem_no_room_entry {
  uint64_t pid;  // 0: a free one
  char command[TORCHMEM_NO_ROOM_COMMAND];
};

struct torchmem_no_room {
  struct torchmem_no_room_entry processes[TORCHMEM_NO_ROOM_PROCESSES];
};

// Notes this process there. It has one entry however often it asks; where all are taken, it is one too many.
static inline void torchmem_process_has_no_room(const char* directory) {
  char path[4096], command[TORCHMEM_PROCESS_STATE_COMMAND];
  int length = snprintf(path, sizeof path, "%s/no-room", directory);
  int file = length < 0 || (size_t)length >= sizeof path ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* mapping = mmap(0, sizeof(struct torchmem_no_room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapping == MAP_FAILED) return;
  struct torchmem_no_room_entry* entries = ((struct torchmem_no_room*)mapping)->processes;
  uint64_t pid = (uint64_t)getpid();
  for (int i = 0; i < TORCHMEM_NO_ROOM_PROCESSES; ++i) {
    uint64_t seen = 0;
    if (__atomic_compare_exchange_n(&entries[i].pid, &seen, pid, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      torchmem_process_state_command(command);
      snprintf(entries[i].command, sizeof entries[i].command, "%.*s", TORCHMEM_NO_ROOM_COMMAND - 1, command);
      break;
    }
    if (seen == pid) break;
  }
  munmap(mapping, sizeof(struct torchmem_no_room));
}

// Maps this process's own state file in `directory`, making it if it is not there; a second caller in the
// same process (the other library) gets a mapping of the same file. A file left by an earlier program of the
// same pid (before exec) is kept and continued: its peaks are the process's. Returns 0 (null) when it cannot:
// the program must not suffer. Room is taken at once: a write to a mapped page that the file system has no
// room for ends a process. After fork the child has another pid: call it again there.
static inline struct torchmem_process_state* torchmem_process_state_open(const char* directory) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/process-%ld", directory, (long)getpid());
  if (length < 0 || (size_t)length >= sizeof path) return 0;
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    torchmem_process_has_no_room(directory);
    return 0;
  }
  struct stat status;
  void* mapping = MAP_FAILED;
  if (fstat(file, &status) == 0 && ((size_t)status.st_size >= sizeof(struct torchmem_process_state) ||
                                    posix_fallocate(file, 0, sizeof(struct torchmem_process_state)) == 0)) {
    mapping = mmap(0, sizeof(struct torchmem_process_state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  } else {
    unlink(path);
    torchmem_process_has_no_room(directory);
  }
  close(file);
  if (mapping == MAP_FAILED) return 0;
  struct torchmem_process_state* state = (struct torchmem_process_state*)mapping;
  if (__atomic_load_n(&state->magic, __ATOMIC_ACQUIRE) != TORCHMEM_PROCESS_STATE_MAGIC) {
    state->version = TORCHMEM_PROCESS_STATE_VERSION;
    state->pid = (uint64_t)getpid();
    state->parent_pid = (uint64_t)getppid();
    torchmem_process_state_command(state->command);
    __atomic_store_n(&state->magic, TORCHMEM_PROCESS_STATE_MAGIC, __ATOMIC_RELEASE);
  }
  return state;
}

// Unmaps a state got from torchmem_process_state_open (in a child after fork: the parent's).
static inline void torchmem_process_state_close(struct torchmem_process_state* state) {
  if (state) munmap(state, sizeof(struct torchmem_process_state));
}

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-use-nullptr)
