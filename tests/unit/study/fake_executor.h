// Runs that a function answers at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launch/run_executor.h"

namespace torchmem {

class FakeExecutor : public RunExecutor {
 public:
  explicit FakeExecutor(std::function<Run(const Job&)> answer) : answer_(std::move(answer)) {}

  void run(const std::vector<Job>& jobs, const OnResult& on_result) override {
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (interrupted()) {
        on_result(i, failed(ErrorKind::interrupted));
        continue;
      }
      calls.push_back(jobs[i]);
      on_result(i, answer_(jobs[i]));
    }
  }
  bool interrupted() override { return calls.size() >= interrupted_after; }
  size_t at_once() const override { return 2; }

  static Run failed(ErrorKind kind) {
    Run run;
    run.is_ours = true;
    run.error.emplace();
    run.error->kind = kind;
    run.error->message = "it failed";
    return run;
  }

  // With both peaks at `bytes`.
  static Run with_peak(uint64_t bytes) {
    Run run;
    run.is_ours = true;
    Phase& phase = run.phases.emplace_back();
    phase.name = "load";
    phase.allocated.emplace();
    phase.allocated->peak = bytes;
    phase.reserved.emplace();
    phase.reserved->peak = bytes;
    return run;
  }

  std::vector<Job> calls;               // in their order
  size_t interrupted_after = SIZE_MAX;  // runs

 private:
  std::function<Run(const Job&)> answer_;
};

}  // namespace torchmem
