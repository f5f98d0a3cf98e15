#include "capture/decisions.h"

namespace torchmem::capture {

const char* what_it_decides(const values::Reading& reading) { return reading.is_truth ? "branch" : ""; }

}  // namespace torchmem::capture
