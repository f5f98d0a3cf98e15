#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../../../src/vgpu/device/assumptions.h"
#include "../../../src/vgpu/device/values.h"

// The device core that the tests run NCCL on: bytes with a state at any address, in a map. Every process has
// its own, threads share one.
namespace fake {

inline void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

// Values as an array of numbers, and back.
template <class Number>
void put(uint64_t address, const std::vector<Number>& values, int state = tmv_value_known) {
  tmv_value_poke(address, values.size() * sizeof(Number), values.data(), state);
}

// What the host reads, and the worst state in it.
template <class Number>
std::vector<Number> get(uint64_t address, size_t count, int* state = nullptr) {
  std::vector<Number> values(count);
  int worst = tmv_value_peek(address, count * sizeof(Number), values.data());
  if (state) *state = worst;
  return values;
}

inline int state(uint64_t address, size_t bytes) {
  std::vector<char> there(bytes);
  return tmv_value_peek(address, bytes, there.data());
}

void clear();
size_t counted_values();  // by tmv_count_value
bool waits(uint64_t address, size_t bytes);
void synchronize(void* stream);
void set_capturing(bool capturing);

}  // namespace fake
