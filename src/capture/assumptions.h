#pragma once

#include <functional>

#include "capture/stream_writer.h"

namespace torchmem::capture {

// Writes what the virtual GPU had to assume as assumptions: a value read back that only a kernel would have
// computed (assumed_value, with what it was taken for and what it decides), a workspace size that is not
// recorded (estimated_workspace), a call without a model (unmodelled_call), each with the operator, module
// and source line that it happened in. The first of its kind is written at once with count 1; repeats are
// added up and written by `write_repeats` with the count and bytes of the repeats alone, so a reader adds
// records of the same key.
//
// Values are followed from here on (values/observer.h), as TORCHMEM_VALUES says. Says on standard error, at
// once, when values go to the host in bulk that the device does not hold, and when one line reads assumed
// values again and again; TORCHMEM_MAX_ASSUMED_READS ends the process (see `on_limit`).
//
// `writer` is asked for at the first assumption, and must outlive the process's use of CUDA. Does nothing on
// a real device. Once a process.
void observe_virtual_device(std::function<StreamWriter&()> writer);

// What ends the process when it has read more assumed values than allowed: it gets the reason, and does not
// return.
void on_assumed_reads_limit(std::function<void(const std::string& reason)> end);

// What is read while one of these lives is no assumption: PyTorch compares a model's constants as it loads
// them, and that decides nothing.
class UncountedReads {
 public:
  UncountedReads();
  ~UncountedReads();
  UncountedReads(const UncountedReads&) = delete;
  UncountedReads& operator=(const UncountedReads&) = delete;
};

void write_repeats();

// In a child of fork: the parent's assumptions are the parent's.
void forget_assumptions();

}  // namespace torchmem::capture
