// Runs many engine requests, each in a process of its own, so that each has a fresh allocator.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "launch/child_process.h"
#include "launch/device_choice.h"
#include "launch/progress.h"
#include "request/run_request.h"
#include "torchmem/run.h"

namespace torchmem {

struct Job {
  std::string name;  // for the progress line, e.g. "batch 32"
  RunRequest request;
  DeviceChoice device;
};

// How many engines on the virtual GPU may run at once here: one a core that this process may use, fewer where
// the free memory does not hold as many.
size_t parallel_engines();

// Several jobs at once on the virtual GPU; one at a time as soon as one of them is for a real GPU, whose
// memory they would share. Interruptions go on to the engines while the runner lives.
class Runner {
 public:
  // `what` starts the progress line. `at_once` 0: parallel_engines(). An engine is kept loaded for all jobs
  // of all calls.
  Runner(const std::string& what, bool is_quiet, size_t at_once = 0);

  // Runs all; the results are in the jobs' order. Never throws for what happens to one job: its Run has the
  // error. After an interruption nothing more is started, and what was not run has ErrorKind::interrupted.
  // Every run has the facts of add_engine_facts.
  std::vector<Run> run(const std::vector<Job>& jobs);

  // The same, each result given away as it comes, with the job's index.
  using OnResult = std::function<void(size_t index, Run run)>;
  void run(const std::vector<Job>& jobs, const OnResult& on_result);

  bool interrupted() { return children_.interrupted(); }

 private:
  ChildGroup children_;
  std::string what_;
  Progress progress_;
  size_t at_once_;
};

}  // namespace torchmem
