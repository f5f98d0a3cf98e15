#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "values/operator.h"

namespace torchmem::values {

// What a value that only a kernel would have computed is taken for: one that a healthy run has, the same in
// every run. docs/values.md has the table, for users.

// Fills `bytes` with elements of that type as unknown memory is read: a float on its own is 1 the first time
// and 1 % less each time after, down to 1e-6; several are from 1 up to 1.5, all different as far as the type
// goes; booleans are true; integers 0. Within an Unseen (compute.h).
void fill_unknown(at::ScalarType dtype, void* to, std::size_t bytes);

// What an operator's integer or boolean result is taken for. `extent`: the size of the dimension that it
// reduces or orders, or for a count the number of elements that each counts.
at::Tensor stand_in(const Operator& op, at::ScalarType dtype, at::IntArrayRef sizes, std::int64_t extent);

// Of the truth values that an operator looks for, every second one is true: how many of `elements` that is.
std::int64_t count_of(std::int64_t elements);

// The first element as text: "1", "true", "17".
std::string text_of(at::ScalarType dtype, const void* value);

}  // namespace torchmem::values
