#include "study/fit_verdict.h"

#include <spdlog/fmt/fmt.h>

#include "launch/engine_info.h"
#include "report/run_result_text.h"
#include "text/words.h"

namespace torchmem {

std::optional<Error> fit_failure(const std::vector<FitResult>& results) {
  const SizeResult* first = nullptr;
  std::vector<std::string> sizes;
  for (const FitResult& result : results) {
    if (result.largest) return std::nullopt;
    for (const SizeResult& trial : result.trials) {
      if (trial.outcome.run.error->kind == ErrorKind::out_of_memory) return std::nullopt;
      if (!first) first = &trial;
      if (&result == &results.front()) sizes.push_back(std::to_string(trial.size));
    }
  }
  if (!first) return std::nullopt;
  return Error(
      first->outcome.run.error->kind,
      fmt::format("no size of {} could be run. {} {}\nTried: {}. If the model takes only other sizes, "
                  "say so with --min or --multiple-of.",
                  results.front().dimension, first->size, error_text(first->outcome.run), joined(sizes)));
}

std::optional<Error> fit_doubt(const std::vector<FitResult>& results, bool allow_assumed) {
  for (const FitResult& result : results) {
    for (const SizeResult& trial : result.trials) {
      const std::optional<RunError>& error = trial.outcome.run.error;
      if (!error || error->kind != ErrorKind::assumed_reads) continue;
      return Error(ErrorKind::assumed_reads, fmt::format("no answer: {} = {} {}", result.dimension,
                                                         trial.size, error_text(trial.outcome.run)));
    }
  }
  const SizeResult* decided = allow_assumed ? nullptr : first_decided(results);
  if (!decided) return std::nullopt;
  return decided_error(fmt::format("no answer: with {} = {}, ", results.front().dimension, decided->size),
                       decided->outcome.run);
}

Error fit_interruption(const FitResult& first) {
  std::string text = fmt::format("interrupted after {} runs", first.trials.size());
  if (first.largest) {
    text += fmt::format("; the largest {} seen to fit is {}, which need not be the answer", first.dimension,
                        *first.largest);
  }
  return {ErrorKind::interrupted, text};
}

}  // namespace torchmem
