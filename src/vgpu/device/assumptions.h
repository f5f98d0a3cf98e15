#pragma once

#include <cstddef>
#include <cstdint>

// What a run on the virtual GPU had to assume. The counts are exact; who wants to know more about each
// assumption (which operator, which line) sets an observer.
extern "C" {

struct tmv_gap {
  size_t offset;
  size_t bytes;
};

enum tmv_assumption {
  tmv_not_assumed = 0,  // what was read is known after all
  tmv_assumed_gaps = 1,
  tmv_assumed_all = 2,  // other bytes than those in the gaps were changed too
};

struct tmv_observer {
  void* user;
  // The host read `bytes` at `address` into `to`, of which some are assumed, and those in `gaps` (rising)
  // unknown: they are zero, and to be filled here with what they are taken for. `to` null: a value was
  // assumed that nobody reads. Returns a tmv_assumption.
  int (*value_assumed)(void* user, uint64_t address, size_t bytes, void* to, const tmv_gap* gaps,
                       size_t count);
  // A workspace size was asked for. how: 0 recorded on a device, 1 estimated, 2 unknown and taken as 0, 3 it
  // was out of memory, and taken is an engine that needs none.
  void (*workspace)(void* user, const char* library, const char* operation, const char* problem, size_t bytes,
                    int how);
  // A call that the virtual GPU does not model was answered with "not supported".
  void (*unmodelled)(void* user, const char* library, const char* function);
  // Work of a captured graph (values.h).
  void (*launched)(void* user, void* work);
  void (*dropped)(void* user, void* work);
};

// Copied; one at a time, null for none. Calls come on the thread that caused them, with no lock of the
// virtual GPU held.
void tmv_set_observer(const tmv_observer* observer);

void tmv_count_unmodelled(const char* library, const char* function);
void tmv_count_workspace(const char* library, const char* operation, const char* problem, size_t bytes,
                         int how);
void tmv_count_value(uint64_t address, size_t bytes);
// The same of a value that the host reads; see the observer.
int tmv_assume_value(uint64_t address, size_t bytes, void* to, const tmv_gap* gaps, size_t count);
void tmv_captured_work(void* work, bool launched);

// A kernel wrote this range, or the memory got a new owner: what the host put there before is no longer
// known.
void tmv_written(uint64_t address, size_t bytes);

// PyTorch's allocator holds this block of cudaMalloc's. Blocks that it holds none of are counted apart.
void tmv_claimed(uint64_t address);

// The device profile as JSON text, NUL-terminated if it fits. Returns the bytes needed, 0 when there is no
// profile.
int tmv_profile_json(char* buffer, size_t size);

struct tmv_counts {
  uint64_t unmodelled_calls;
  uint64_t assumed_values;
  uint64_t assumed_bytes;
  uint64_t recorded_workspaces;
  uint64_t estimated_workspaces;
  uint64_t unknown_workspaces;
};
void tmv_get_counts(tmv_counts* counts);
}
