#include "study/fit_study.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "request/spec.h"
#include "study/fit_verdict.h"

namespace torchmem {

namespace {

// More than any run takes, and half of the virtual device's address space.
constexpr uint64_t memory_enough = uint64_t{1} << 43;

bool is_of_kind(const Run& run, ErrorKind kind) { return run.error && run.error->kind == kind; }

// One device's search and what came of it.
struct Search {
  DeviceChoice device;
  FitSearch sizes;
  FitResult result;

  void take(uint64_t size, Run run);
  FitResult finish();
};

void Search::take(uint64_t size, Run run) {
  if (const auto& total = run.info.device.total_bytes) result.capacity = *total;
  RunResult outcome = run_result_of(std::to_string(size), std::move(run));
  sizes.add(size, !outcome.run.error, outcome.peak ? outcome.peak->reserved.value_or(0) : 0,
            outcome.peak ? outcome.peak->allocated : 0);
  result.trials.push_back({size, std::move(outcome)});
  if (auto bytes = reservable(result)) sizes.set_capacity(*bytes);
}

FitResult Search::finish() {
  result.largest = sizes.largest();
  result.checked_through = sizes.checked_through();
  result.at_most = sizes.at_most();
  std::sort(result.trials.begin(), result.trials.end(),
            [](const SizeResult& a, const SizeResult& b) { return a.size < b.size; });
  return std::move(result);
}

class FitStudy {
 public:
  FitStudy(const FitQuestion& question, RunExecutor& executor) : question_(question), executor_(executor) {
    for (const FitDevice& device : question.devices) {
      Search search{device.choice, FitSearch(question.bounds, question.request.limit_bytes.value_or(0)), {}};
      search.result.device = device.name;
      search.result.dimension = question.dimension;
      search.result.least = least_size(question.bounds);
      search.result.multiple = question.bounds.multiple;
      search.result.limit = question.request.limit_bytes;
      searches_.push_back(std::move(search));
    }
  }

  // Runs the sizes that the searches want next; false when they are over.
  bool run_round() {
    std::vector<Job> jobs;
    std::vector<std::pair<Search*, uint64_t>> what;
    for (Search& search : searches_) {
      for (uint64_t size : search.sizes.next()) {
        jobs.push_back(job_of(search, size));
        what.emplace_back(&search, size);
      }
    }
    if (jobs.empty()) return false;
    std::optional<std::string> unavailable;
    executor_.run(jobs, [&](size_t index, Run run) {
      if (is_of_kind(run, ErrorKind::unavailable) && !unavailable) unavailable = run.error->message;
      if (unavailable || is_of_kind(run, ErrorKind::interrupted)) return;
      what[index].first->take(what[index].second, std::move(run));
    });
    if (unavailable) throw Error(ErrorKind::unavailable, *unavailable);
    return true;
  }

  // Where none fits: what the smallest would need, without a limit, on the same card with memory enough.
  void find_needs() {
    std::vector<Job> jobs;
    std::vector<FitResult*> whose;
    for (Search& search : searches_) {
      const std::vector<SizeResult>& trials = search.result.trials;
      bool ran_out = std::any_of(trials.begin(), trials.end(), [](const SizeResult& trial) {
        return is_of_kind(trial.outcome.run, ErrorKind::out_of_memory);
      });
      if (search.sizes.largest() || !ran_out) continue;
      Job job = job_of(search, search.result.least);
      job.request.limit_bytes.reset();
      if (job.device.kind == DeviceChoice::Kind::virtual_gpu) job.device.total_bytes = memory_enough;
      jobs.push_back(std::move(job));
      whose.push_back(&search.result);
    }
    if (jobs.empty()) return;
    executor_.run(jobs, [&](size_t index, Run run) {
      whose[index]->unlimited = SizeResult{whose[index]->least, run_result_of("unlimited", std::move(run))};
    });
  }

  std::vector<FitResult> results() {
    std::vector<FitResult> results;
    for (Search& search : searches_) results.push_back(search.finish());
    return results;
  }

 private:
  Job job_of(const Search& search, uint64_t size) const {
    Job job{fmt::format("{} = {}", question_.dimension, size), question_.request, search.device};
    if (searches_.size() > 1) job.name = search.result.device + ", " + job.name;
    job.request.recording = Recording::off;  // peaks are enough, and each run is quicker
    set_dimension(job.request.inputs, question_.dimension, size);
    return job;
  }

  const FitQuestion& question_;
  RunExecutor& executor_;
  std::vector<Search> searches_;
};

}  // namespace

bool FitAnswer::found() const {
  return std::any_of(results.begin(), results.end(),
                     [](const FitResult& result) { return result.largest.has_value(); });
}

FitAnswer run_fit(const FitQuestion& question, RunExecutor& executor) {
  FitStudy study(question, executor);
  while (!executor.interrupted() && study.run_round()) {
  }
  bool is_interrupted = executor.interrupted();
  if (!is_interrupted) study.find_needs();
  FitAnswer answer;
  answer.results = study.results();
  answer.failure = is_interrupted ? fit_interruption(answer.results.front()) : fit_failure(answer.results);
  if (!answer.failure) answer.doubt = fit_doubt(answer.results, question.allow_assumed);
  return answer;
}

}  // namespace torchmem
