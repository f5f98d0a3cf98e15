#include "agent/assumptions_file.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "agent/limit.h"
#include "capture/assumptions.h"
#include "capture/place.h"
#include "capture/stream_writer.h"

namespace torchmem::agent {
namespace {

capture::StreamWriter* the_writer = nullptr;  // for good: the program's threads outlive static destructors

capture::StreamWriter& writer() {
  if (the_writer == nullptr) {
    const char* directory = std::getenv("TORCHMEM_RUN_DIR");
    const std::string path = directory == nullptr || *directory == '\0'
                                 ? std::string("/dev/null")
                                 : std::string(directory) + "/assumptions-" + std::to_string(getpid());
    the_writer = capture::StreamWriter::open(path).release();
  }
  return *the_writer;
}

void finish() {
  if (the_writer == nullptr) return;
  capture::write_repeats();
  the_writer->flush();
}

}  // namespace

void write_assumptions() {
  capture::follow_python();
  capture::observe_virtual_device(writer);
  std::atexit(finish);
  end_at_limit(finish);
  pthread_atfork(nullptr, nullptr, [] {
    the_writer = nullptr;
    capture::forget_assumptions();
  });
}

}  // namespace torchmem::agent
