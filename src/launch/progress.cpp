#include "launch/progress.h"

#include <unistd.h>

#include <iostream>

#include "report/text.h"

namespace torchmem {

Progress::Progress(const std::string& what, bool is_quiet) {
  wanted_ = !is_quiet && isatty(STDERR_FILENO);
  show(what);
}

void Progress::show(const std::string& what) {
  if (!wanted_) return;
  std::cerr << (shown_ ? "\r\033[K" : "") << shorten(what, report_width - 4) << " ..." << std::flush;
  shown_ = true;
}

void Progress::end() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace torchmem
