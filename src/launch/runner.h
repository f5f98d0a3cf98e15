// Runs many engine requests, each in a process of its own, so that each has a fresh allocator.
#pragma once

#include <string>
#include <vector>

#include "launch/child_process.h"
#include "launch/progress.h"
#include "launch/run_executor.h"

namespace torchmem {

// How many engines on the virtual GPU may run at once here: one a core that this process may use, fewer where
// the free memory does not hold as many.
size_t parallel_engines();

// Several jobs at once on the virtual GPU; one at a time as soon as one of them is for a real GPU, whose
// memory they would share. Interruptions go on to the engines while the runner lives. Every run has the info
// of add_engine_info.
class Runner : public RunExecutor {
 public:
  // `what` starts the progress line. `at_once` 0: parallel_engines(). An engine is kept loaded for all jobs
  // of all calls.
  Runner(const std::string& what, bool is_quiet, size_t at_once = 0);

  void run(const std::vector<Job>& jobs, const OnResult& on_result) override;
  bool interrupted() override { return children_.interrupted(); }
  size_t at_once() const override { return at_once_; }

 private:
  ChildGroup children_;
  std::string what_;
  Progress progress_;
  size_t at_once_;
};

}  // namespace torchmem
