#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <vector>

namespace torchmem::capture {

/// Positions of the arguments that the operator's schema says it writes (in place, or out=). Empty for what
/// has no schema.
std::vector<std::uint32_t> written_arguments(const at::RecordFunction& fn);

/// Calls `written(address, bytes)` for the device range of each of these arguments: tensors and lists of
/// tensors on a CUDA device. Legal only in a RecordFunction start callback that asked for inputs.
void report_written(const at::RecordFunction& fn, const std::vector<std::uint32_t>& arguments,
                    void (*written)(std::uint64_t address, std::size_t bytes));

}  // namespace torchmem::capture
