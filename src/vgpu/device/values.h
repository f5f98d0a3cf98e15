#pragma once

#include <cstddef>
#include <cstdint>

// Values in device memory, for who computes them beside the device: the engine and the agent (operators), the
// virtual NCCL (what other ranks sent). Addresses are device addresses, sizes bytes; any thread may call.
extern "C" {

enum {
  tmv_value_unknown = 0,  // only a kernel would have computed it
  tmv_value_assumed = 1,  // stands in for such a value, or was computed from one that does
  tmv_value_known = 2,
};

// Copies what is there to `to`, unknown bytes as zero; returns the worst state in the range. Counts nothing.
// With `to` null only the state.
int tmv_value_peek(uint64_t address, size_t bytes, void* to);
// These bytes are there now, in that state. They may be dropped where much is kept already.
void tmv_value_poke(uint64_t address, size_t bytes, const void* from, int state);
// The same with one value of `unit` bytes (at most 16) again and again, at no cost for its size.
void tmv_value_repeat(uint64_t address, size_t bytes, const void* value, size_t unit, int state);
// Of that range what is unknown gets the bytes at the same place in `from`, assumed.
void tmv_value_stand_in(uint64_t address, size_t bytes, const void* from);
// From now on copies of any size from the host are kept, in a file that has no name.
void tmv_keep_large_values();
// How many captures are under way. While a stream is captured nothing happens on the device: what is given to
// it happens at each launch of the graph.
size_t tmv_captures();
bool tmv_is_captured(void* stream);
// Adds work to the capture of `stream`, after what it has: at each launch of the graph the observer's
// `launched` gets `work`, and `dropped` once, when the graph and all that was made of it are gone. False when
// the stream is not being captured: then it is dropped at once.
bool tmv_capture_work(void* stream, void* work);
// The state of each byte of the range.
void tmv_value_states(uint64_t address, size_t bytes, unsigned char* states);
// The range is unknown, but its value is on its way (from another rank). The first who needs any of it calls
// `resolve`, once, with no lock held: it fills `to` and `states` (one for each byte; all zero before, which
// is unknown). What was written over in the meantime stays as it was written. `what` then belongs to the
// device, and is given back by `release(what)`, once: after it was resolved, or when all of the range was
// written over or freed first; it must not call the device.
void tmv_value_pending(uint64_t address, size_t bytes,
                       void (*resolve)(void* what, void* to, unsigned char* states),
                       void (*release)(void* what), void* what);
// The stream's work includes something that others do, and is done when `wait(what)` returns: who
// synchronizes with the stream, or with one that came to wait for it, calls that, with no lock held. Later
// work of the same `key` takes the place of earlier work. `what` is given back by `release(what)`, which must
// not call the device.
void tmv_stream_awaits(void* stream, const void* key, void (*wait)(void* what), void (*release)(void* what),
                       void* what);
}
