#pragma once

#include <cstddef>
#include <cstdint>

// What a run on the virtual GPU had to assume. The counts are exact; who wants to know more about each
// finding (which operator, which line) sets an observer.
extern "C" {

struct tmv_observer {
  void* user;
  // `bytes` at `address` were read by the host although nothing is known about them: they read as zero.
  void (*value_assumed)(void* user, uint64_t address, size_t bytes);
  // A workspace size was asked for. how: 0 recorded on a device, 1 estimated, 2 unknown and taken as 0, 3 it
  // was out of memory, and taken is an engine that needs none.
  void (*workspace)(void* user, const char* library, const char* operation, const char* problem, size_t bytes,
                    int how);
  // A call that the virtual GPU does not model was answered with "not supported".
  void (*unmodelled)(void* user, const char* library, const char* function);
};

// Copied; one at a time, null for none. Calls come on the thread that caused them, with no lock of the
// virtual GPU held.
void tmv_set_observer(const tmv_observer* observer);

void tmv_count_unmodelled(const char* library, const char* function);
void tmv_count_workspace(const char* library, const char* operation, const char* problem, size_t bytes,
                         int how);
void tmv_count_value(uint64_t address, size_t bytes);

// A kernel wrote this range, or the memory got a new owner: what the host put there before is no longer
// known.
void tmv_written(uint64_t address, size_t bytes);

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
