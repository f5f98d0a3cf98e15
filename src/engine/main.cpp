// torchmem-engine REQUEST.json: runs one model in this process and writes the event stream that the request
// names. Started by torchmem, never by hand. Exit code: 0 finished, 1 out of memory, 2 could not (the
// stream's X record says why), 3 unavailable, 64 + errno: the stream could not be written.
//
// torchmem-engine --serve: the same for each line of standard input, in a process forked for it, which is
// left to the parent of this one; standard output has that process's id, a line each (cli/warm_program.h).

#include <c10/util/Exception.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

#include "capture/assumptions.h"
#include "capture/source_place.h"
#include "capture/stream_writer.h"
#include "engine/check.h"
#include "engine/error_record.h"
#include "engine/inspect.h"
#include "engine/profile.h"
#include "engine/scenario.h"
#include "torchmem/error.h"

namespace {

using namespace torchmem;
using engine::Failure;
using engine::FailureKind;

capture::StreamWriter* the_writer = nullptr;
const RunRequest* the_request = nullptr;
engine::RunState* the_state = nullptr;

// Exit codes from here on: the stream could not be written, and the error's number
// (launch/engine_process.cpp).
constexpr int unwritten = 64;

RunRequest request_in(const char* path) {
  std::ifstream in(path);
  const auto json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!in || json.is_discarded()) {
    throw Failure(FailureKind::bad_usage,
                  std::string("Cannot read the engine's request ") + path + " as JSON.");
  }
  try {
    return read_request(json);
  } catch (const Error& error) {
    throw Failure(FailureKind::bad_usage, error.what());
  }
}

// The texts that were said, by this process or by one that was forked from the same one: copies share its
// memory.
class SaidTexts {
 public:
  SaidTexts()
      : hashes_(static_cast<std::atomic<std::size_t>*>(mmap(nullptr, most * sizeof(std::atomic<std::size_t>),
                                                            PROT_READ | PROT_WRITE,
                                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}

  // Whether the text comes for the first time; also where there is no room to remember it.
  bool add(const std::string& text) {
    if (hashes_ == MAP_FAILED) return true;
    const std::size_t hash = std::max<std::size_t>(std::hash<std::string>()(text), 1);
    for (std::size_t i = 0; i < most; ++i) {
      std::size_t seen = 0;
      if (hashes_[i].compare_exchange_strong(seen, hash)) return true;
      if (seen == hash) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t most = 256;
  std::atomic<std::size_t>* hashes_;
};

// PyTorch's warnings, one line each and each once: they must neither reach stdout nor show C++ places.
class WarningsToStderr : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    say("PyTorch: " + warning.msg().substr(0, warning.msg().find('\n')));
  }

  void say(const std::string& text) {
    if (said_.add(text)) std::cerr << "warning: " + text + "\n";
  }

 private:
  SaidTexts said_;
};

WarningsToStderr& warnings() {
  static WarningsToStderr handler;
  return handler;
}

// Nobody reads what is written for a torchmem that was killed. It says which process it is, since one that
// was killed before this was called is nobody's parent any more.
void end_with_parent() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char* parent = std::getenv("TORCHMEM_PARENT");
  if (parent != nullptr && getppid() != std::atoi(parent)) std::raise(SIGKILL);
}

// Writes what happened until now, so that the run file can be made of it. The stream is all that is touched.
extern "C" void on_signal(int number) {
  const bool is_fault = number != SIGINT && number != SIGTERM;
  if (the_writer != nullptr && !the_writer->flush_from_signal(number) && !is_fault) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

int fail(const std::exception_ptr& error) {
  const auto record = engine::error_record(error, *the_request, *the_state);
  the_writer->error(record.json);
  return engine::exit_code(record.kind);
}

// An exception that left a thread or a destructor: the run is over, but its record is written.
[[noreturn]] void on_terminate() {
  int code = engine::exit_code(FailureKind::internal);
  const auto error = std::current_exception();
  if (the_writer != nullptr && error) code = fail(error);
  std::_Exit(code);
}

// The run is over, wherever it is, and what it did until now is its result.
[[noreturn]] void end_for_assumed_reads(const std::string& reason) {
  if (the_state->recorder != nullptr) the_state->recorder->finish();
  const int code = fail(std::make_exception_ptr(Failure(
      FailureKind::assumed_reads, "The run was ended: " + reason + ". What it did until then is reported.")));
  the_writer->flush();
  std::_Exit(code);
}

int run(const RunRequest& request) {
  const auto writer = capture::StreamWriter::open(request.stream);
  engine::RunState state;
  the_writer = writer.get();
  the_request = &request;
  the_state = &state;
  std::set_terminate(on_terminate);
  capture::on_assumed_reads_limit(end_for_assumed_reads);
  for (const int number : {SIGINT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    std::signal(number, on_signal);
  c10::WarningUtils::set_warning_handler(&warnings());
  capture::on_damaged_lines([](const std::string& text) { warnings().say(text); });

  int code = 0;
  try {
    if (request.command == "inspect") {
      engine::run_inspect(request, *writer);
    } else if (request.command == "profile") {
      engine::run_profile(request, *writer, state);
    } else if (request.command == "scenario") {
      engine::run_scenario(request, *writer, state);
    } else if (request.command == "check") {
      engine::run_check(request, *writer);
    } else {
      throw Failure(FailureKind::bad_usage, "The engine has no command \"" + request.command + "\".");
    }
  } catch (...) {
    code = fail(std::current_exception());
  }
  writer->flush();
  // Nothing more can be said in the stream; torchmem makes the sentence of it.
  if (writer->error_number() != 0) code = unwritten + writer->error_number();
  std::fflush(nullptr);
  // Nothing is left to save, and taking LibTorch down takes longer than it is worth.
  std::_Exit(code);
}

int run_file(const char* path) {
  try {
    return run(request_in(path));
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 2;
  }
}

bool has_one_thread() {
  std::error_code error;
  const std::filesystem::directory_iterator threads("/proc/self/task", error);
  return !error && std::distance(begin(threads), end(threads)) == 1;
}

// A process for the request, whose parent has ended when this returns; 0 when there is none.
pid_t start_copy(const std::string& path) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t between = fork();
  if (between == 0) {
    const pid_t parent = getpid();
    const pid_t copy = fork();
    if (copy != 0) {
      const bool told = write(ends[1], &copy, sizeof copy) == sizeof copy;
      std::_Exit(told ? 0 : 1);
    }
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    for (const int end : {ends[0], ends[1], nothing}) close(end);
    while (getppid() == parent) usleep(50);  // until the copy is torchmem's child
    end_with_parent();
    std::_Exit(run_file(path.c_str()));
  }
  close(ends[1]);
  pid_t copy = 0;
  if (between < 0 || read(ends[0], &copy, sizeof copy) != sizeof copy || copy < 0) copy = 0;
  close(ends[0]);
  if (between > 0) waitpid(between, nullptr, 0);
  return copy;
}

int serve() {
  // Operators are registered with their schemas unread; the first question for one reads them all.
  torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("aten::add"));
  warnings();
  if (!has_one_thread()) return 3;  // a copy would lack the others, and what they hold
  for (std::string path; std::getline(std::cin, path);) {
    const pid_t copy = start_copy(path);
    if (copy == 0) return 3;
    std::cout << copy << std::endl;
  }
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: torchmem-engine REQUEST.json (it is started by torchmem)\n";
    return 2;
  }
  end_with_parent();
  return std::strcmp(argv[1], "--serve") == 0 ? serve() : run_file(argv[1]);
}
