// The largest size that fits: runs what FitSearch asks for, on each device, and judges what came of it.
#pragma once

#include <optional>
#include <vector>

#include "launch/run_executor.h"
#include "report/fit_report.h"
#include "study/fit_question.h"
#include "torchmem/error.h"

namespace torchmem {

struct FitAnswer {
  std::vector<FitResult> results;  // in the order of the devices
  // Why there is no answer: the runs were interrupted (ErrorKind::interrupted; the results have what was run
  // until then), or no size ran to its end and none failed for want of memory.
  std::optional<Error> failure;
  // Why the answer cannot be relied on: an assumed value decided a run, or ended it before its time.
  std::optional<Error> doubt;

  // Whether a size fits, on any device.
  bool found() const;
};

// Throws Error(unavailable) when a device cannot be used.
FitAnswer run_fit(const FitQuestion& question, RunExecutor& executor);

}  // namespace torchmem
