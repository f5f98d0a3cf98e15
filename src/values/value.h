#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <cstdint>
#include <optional>

namespace torchmem::values {

// How far what is in device memory can be trusted; of several the worst is the smallest. The numbers are the
// virtual device's (vgpu/device/values.h).
enum class State : int {
  unknown = 0,  // only a kernel would have computed it
  assumed = 1,  // stands in for such a value, or was computed from one that does
  known = 2,
};

// Integers and truth values decide sizes and branches; floats as a rule do not.
inline bool is_integer(at::ScalarType dtype) { return at::isIntegralType(dtype, /*includeBool=*/true); }

// Where a tensor's elements lie in device memory. Holds no reference: an operator's arguments must be free
// to go when PyTorch lets them go.
struct Place {
  std::uint64_t address = 0;  // of the first element
  c10::DimVector sizes;
  c10::DimVector strides;
  at::ScalarType dtype = at::kFloat;
  bool conjugate = false;  // views whose memory holds the conjugates, or the negatives
  bool negative = false;

  std::int64_t elements() const;
  std::size_t item_bytes() const { return c10::elementSize(dtype); }
  // From the first element to the end of the last; 0 without elements.
  std::size_t span_bytes() const;
};

// Nothing for what has no elements in device memory of its own: on the CPU, sparse, a stand-in for other
// tensors (tensor_memory.h), on no device.
std::optional<Place> place_of(const at::Tensor& tensor);

// The state of all elements; of none: known.
State state_of(const Place& place);

// The elements as a CPU tensor of the same sizes and strides; unknown ones are zero.
at::Tensor read(const Place& place, State& state);

// The elements become those of the CPU tensor, which has the place's sizes and dtype.
void write(const Place& place, const at::Tensor& values, State state);

// One value for all elements, at no cost for their number where they lie side by side; false where not.
bool write_all(const Place& place, const at::Tensor& value, State state);

// Nothing is known of the elements any more, but for their type.
void forget(const Place& place);

// The type of the elements that an operator last wrote at that address; nothing where none did, or few.
std::optional<at::ScalarType> type_written_at(std::uint64_t address);

}  // namespace torchmem::values
