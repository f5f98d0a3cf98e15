#include "agent/recording.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include "agent/limit.h"
#include "capture/recorder.h"
#include "capture/stream_writer.h"

namespace torchmem::agent {
namespace {

capture::StreamWriter* the_writer = nullptr;  // for good: the program's threads outlive static destructors
capture::Recorder* the_recorder = nullptr;

// At exit, while CUDA still answers.
void finish() {
  if (the_recorder == nullptr) return;
  try {
    the_recorder->finish();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torchmem: the end of this program's record is missing: %s\n", error.what());
  }
  the_writer->flush();
  if (const int error = the_writer->error_number()) {
    std::fprintf(stderr,
                 "torchmem: this program's record ends early: it could not be written: %s (TMPDIR names "
                 "another place)\n",
                 std::strerror(error));
  }
}

}  // namespace

bool start_recording() {
  const char* directory = std::getenv("TORCHMEM_RUN_DIR");
  if (std::getenv("TORCHMEM_RECORD") == nullptr || directory == nullptr) return false;
  the_writer =
      capture::StreamWriter::open(std::string(directory) + "/stream-" + std::to_string(getpid())).release();
  capture::Recorder::Options options;
  options.writer = the_writer;
  options.program = true;
  the_recorder = &capture::Recorder::start(options);
  std::atexit(finish);
  end_at_limit(finish);
  pthread_atfork(nullptr, nullptr, [] {
    the_recorder = nullptr;
    capture::Recorder::stop();
  });
  return true;
}

}  // namespace torchmem::agent
