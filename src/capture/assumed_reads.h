#pragma once

#include <cstddef>
#include <cstdint>

#include "values/virtual_device.h"

namespace torchmem::capture {

// Reads what the user said of values and of their reads: TORCHMEM_ASSUME, TORCHMEM_MAX_ASSUMED_READS.
void expect_assumed_reads();

// The virtual device's question: what the bytes that the host reads are taken for. Notes the read as a
// assumption, and says what must be said at once.
int value_assumed(void* user, std::uint64_t address, std::size_t bytes, void* to,
                  const values::VirtualDevice::Gap* gaps, std::size_t count);

}  // namespace torchmem::capture
