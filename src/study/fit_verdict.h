// When what the runs of `fit` found is no answer.
#pragma once

#include <optional>
#include <vector>

#include "report/fit_report.h"
#include "torchmem/error.h"

namespace torchmem {

// What ended the runs, where nothing was run to its end and never for want of memory.
std::optional<Error> fit_failure(const std::vector<FitResult>& results);

// That a run is not the one that a GPU makes, or was ended before its time.
std::optional<Error> fit_doubt(const std::vector<FitResult>& results, bool allow_assumed);

// What was seen until the user interrupted the runs, which is of kind `interrupted`.
Error fit_interruption(const FitResult& first);

}  // namespace torchmem
