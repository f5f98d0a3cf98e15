// What a study needs of whoever makes its runs: `Runner` starts engines, a test's fake answers at once.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "launch/device_choice.h"
#include "request/run_request.h"
#include "torchmem/run.h"

namespace torchmem {

struct Job {
  std::string name;  // for the progress line, e.g. "batch 32"
  RunRequest request;
  DeviceChoice device;
};

class RunExecutor {
 public:
  using OnResult = std::function<void(size_t index, Run run)>;

  RunExecutor() = default;
  RunExecutor(const RunExecutor&) = delete;
  RunExecutor& operator=(const RunExecutor&) = delete;
  virtual ~RunExecutor() = default;

  // Runs all, and gives each result away as it comes, with the job's index; each exactly once. Never throws
  // for what happens to one job: its Run has the error. After an interruption nothing more is started, and
  // what was not run has ErrorKind::interrupted.
  virtual void run(const std::vector<Job>& jobs, const OnResult& on_result) = 0;

  // Whether the user has interrupted the runs.
  virtual bool interrupted() = 0;

  // How many jobs run at the same time: more in one call cost no more time.
  virtual size_t at_once() const = 0;

  // The results, in the jobs' order.
  std::vector<Run> run_all(const std::vector<Job>& jobs) {
    std::vector<Run> runs(jobs.size());
    run(jobs, [&](size_t index, Run run) { runs[index] = std::move(run); });
    return runs;
  }

  Run run_one(const Job& job) { return std::move(run_all({job}).front()); }
};

}  // namespace torchmem
