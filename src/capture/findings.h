#pragma once

#include "capture/stream_writer.h"

namespace torchmem::capture {

/// Writes what the virtual GPU had to assume as findings: a value read back that a kernel should have written
/// (assumed_value), a workspace size that is not recorded (estimated_workspace), a call without a model
/// (unmodelled_call), each with the operator, module and source line that it happened in. The first of its
/// kind is written at once with count 1; repeats are added up and written by `write_repeats` with the count
/// and bytes of the repeats alone, so a reader adds records of the same key.
///
/// Does nothing on a real device. Once a process.
void observe_virtual_device(StreamWriter& writer);
void write_repeats();

}  // namespace torchmem::capture
