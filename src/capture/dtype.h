#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace torchmem::capture {

// The short name that the command line uses (f16, bf16, f32, f64, i8, u8, i16, i32, i64, bool, c64, ...),
// else PyTorch's own.
std::string dtype_name(c10::ScalarType type);

// The inverse, for types that an input may have.
std::optional<c10::ScalarType> parse_dtype(std::string_view name);

}  // namespace torchmem::capture
