#include "cli/progress.h"

#include <unistd.h>

#include <iostream>

#include "report/text.h"

namespace torchmem::cli {

Progress::Progress(const std::string& what, const CommonOptions& options) {
  if (options.quiet || !isatty(STDERR_FILENO)) return;
  std::cerr << shorten(what, report_width - 4) << " ..." << std::flush;
  shown_ = true;
}

void Progress::end() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace torchmem::cli
