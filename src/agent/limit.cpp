#include "agent/limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "capture/assumptions.h"

namespace torchmem::agent {
namespace {

constexpr int could_not_answer = 2;

void leave_note(const std::string& reason) {
  const char* directory = std::getenv("TORCHMEM_RUN_DIR");
  if (directory == nullptr) return;
  const std::string path = std::string(directory) + "/ended-" + std::to_string(getpid());
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  const ssize_t written = write(file, reason.data(), reason.size());
  (void)written;
  close(file);
}

}  // namespace

void end_at_limit(void (*finish)()) {
  capture::on_assumed_reads_limit([finish](const std::string& reason) {
    std::fflush(nullptr);
    std::fprintf(stderr, "torchmem: this program was ended: %s\n", reason.c_str());
    leave_note(reason);
    finish();
    std::_Exit(could_not_answer);
  });
}

}  // namespace torchmem::agent
