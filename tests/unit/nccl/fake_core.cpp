#include "fake_core.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "../../../src/vgpu/device/assumptions.h"
#include "../../../src/vgpu/device/awaited.h"
#include "../../../src/vgpu/device/core.h"
#include "../../../src/vgpu/device/pending.h"

using namespace torchmem::vgpu;

namespace {

constexpr uint64_t page_size = 4096;
struct Page {
  unsigned char values[page_size] = {};
  unsigned char states[page_size] = {};
};
Mutex mutex;
std::map<uint64_t, Page> pages;
Pending pending;
Awaited awaited;
std::atomic<size_t> counted{0};
std::atomic<bool> is_capturing{false};

// Calls `work` with each page's part of a range, and where that part begins in the range.
template <class Work>
void each_part(uint64_t address, size_t size, Work&& work) {
  for (size_t done = 0; done < size;) {
    uint64_t in_page = (address + done) % page_size;
    size_t part = std::min<size_t>(size - done, page_size - in_page);
    work(pages[(address + done) / page_size], in_page, part, done);
    done += part;
  }
}

void keep(void*, uint64_t address, const void* from, size_t size, int state) {
  each_part(address, size, [&](Page& page, uint64_t at, size_t part, size_t done) {
    std::memset(page.states + at, state, part);
    if (from)
      std::memcpy(page.values + at, static_cast<const char*>(from) + done, part);
    else
      std::memset(page.values + at, 0, part);
  });
}

void copy_states(uint64_t source, size_t size, std::vector<unsigned char>* values,
                 std::vector<unsigned char>* states) {
  values->resize(size);
  states->resize(size);
  each_part(source, size, [&](Page& page, uint64_t at, size_t part, size_t done) {
    std::memcpy(values->data() + done, page.values + at, part);
    std::memcpy(states->data() + done, page.states + at, part);
  });
}

Pending::Destination destination() { return {&mutex, keep, nullptr}; }

}  // namespace

namespace fake {

void clear() {
  pending.drop(0, ~size_t{0});
  pages.clear();
  counted = 0;
}
size_t counted_values() { return counted; }
bool waits(uint64_t address, size_t bytes) { return pending.waits(address, bytes); }
void synchronize(void* stream) { awaited.synchronize(stream); }
void set_capturing(bool capturing) { is_capturing = capturing; }

}  // namespace fake

extern "C" {

int tmv_value_peek(uint64_t address, size_t size, void* to) {
  pending.settle(address, size, destination());
  std::lock_guard<Mutex> lock(mutex);
  std::vector<unsigned char> values, states;
  copy_states(address, size, &values, &states);
  std::memcpy(to, values.data(), size);
  return size ? *std::min_element(states.begin(), states.end()) : int{tmv_value_known};
}

void tmv_value_poke(uint64_t address, size_t size, const void* from, int state) {
  pending.drop(address, size);
  std::lock_guard<Mutex> lock(mutex);
  keep(nullptr, address, from, size, state);
}

void tmv_written(uint64_t address, size_t size) { tmv_value_poke(address, size, nullptr, tmv_value_unknown); }

void tmv_value_states(uint64_t address, size_t size, unsigned char* states) {
  pending.settle(address, size, destination());
  std::lock_guard<Mutex> lock(mutex);
  std::vector<unsigned char> values, all;
  copy_states(address, size, &values, &all);
  std::memcpy(states, all.data(), size);
}

void tmv_value_pending(uint64_t address, size_t size, void (*resolve)(void*, void*, unsigned char*),
                       void (*release)(void*), void* what) {
  tmv_written(address, size);
  pending.add(address, size, {resolve, release, what});
}

int tmv_copy(void* to, const void* from, size_t size) {
  auto source = reinterpret_cast<uint64_t>(from), target = reinterpret_cast<uint64_t>(to);
  pending.settle(source, size, destination());
  pending.drop(target, size);
  std::lock_guard<Mutex> lock(mutex);
  std::vector<unsigned char> values, states;
  copy_states(source, size, &values, &states);
  for (size_t i = 0; i < size; ++i) keep(nullptr, target + i, &values[i], 1, states[i]);
  return success;
}

void tmv_stream_awaits(void* stream, const void* key, void (*wait)(void*), void (*release)(void*),
                       void* what) {
  awaited.add(stream, key, {wait, release, what});
}

void tmv_count_value(uint64_t, size_t) { ++counted; }

int tmv_capture_info(void*, CaptureInfo* info) {
  *info = CaptureInfo();
  info->status = is_capturing ? 1 : 0;
  return success;
}

int tmv_version(const char*) { return 22809; }
int tmv_current_device() { return 0; }
int tmv_malloc(int, size_t, uint64_t*) { return out_of_memory; }
int tmv_free(uint64_t) { return success; }
}
