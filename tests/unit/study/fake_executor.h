// Makes a study's runs up, in place of engines.
#pragma once

#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "launch/run_executor.h"

namespace torchmem {

class FakeExecutor : public RunExecutor {
 public:
  explicit FakeExecutor(std::function<Run(const Job&)> make) : make_(std::move(make)) {}

  std::vector<Job> jobs;  // those that were run, in order
  // So many runs are made; then the user interrupts.
  size_t interrupt_after = std::numeric_limits<size_t>::max();

  void run(const std::vector<Job>& wanted, const OnResult& on_result) override {
    for (size_t i = 0; i < wanted.size(); ++i) on_result(i, interrupted() ? not_run() : made(wanted[i]));
  }
  bool interrupted() override { return jobs.size() >= interrupt_after; }
  size_t at_once() const override { return 1; }

 private:
  static Run not_run() {
    Run run;
    run.is_ours = true;
    run.error =
        RunError{ErrorKind::interrupted, "interrupted before it was run", {}, {}, nlohmann::json::object()};
    return run;
  }

  Run made(const Job& job) {
    jobs.push_back(job);
    return make_(job);
  }

  std::function<Run(const Job&)> make_;
};

}  // namespace torchmem
