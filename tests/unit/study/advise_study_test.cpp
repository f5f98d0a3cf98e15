#include "study/advise_study.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fake_executor.h"
#include "request/spec.h"

namespace torchmem {
namespace {

Job base() {
  Job job;
  job.name = "as it is";
  job.request.inputs = parse_inputs({"f32:8x3"});
  return job;
}

// 16-bit weights halve it, micro-batches take a quarter off; autocast fails.
Run answer(const Job& job) {
  if (job.request.autocast) return FakeExecutor::failed(ErrorKind::model_failed);
  uint64_t bytes = 8000;
  if (job.request.dtype) bytes /= 2;
  if (job.request.accumulate > 1) bytes -= bytes / 4;
  if (bytes > job.request.limit_bytes.value_or(UINT64_MAX))
    return FakeExecutor::failed(ErrorKind::out_of_memory);
  return FakeExecutor::with_peak(bytes);
}

Verdict verdict(const Advice& advice, const std::string& name) {
  auto found = std::find_if(advice.levers.begin(), advice.levers.end(),
                            [&](const LeverResult& lever) { return lever.trial.name == name; });
  return found == advice.levers.end() ? Verdict::fails : verdict_of(*found, advice.base);
}

TEST(AdviseStudy, MeasuresLeversAndPairs) {
  FakeExecutor executor(answer);
  Advice advice = run_advise(base(), {}, executor).advice;
  EXPECT_EQ(verdict(advice, "dtype=bf16"), Verdict::saves);
  EXPECT_EQ(verdict(advice, "autocast=bf16"), Verdict::fails);
  EXPECT_EQ(verdict(advice, "shapes=padded"), Verdict::does_not_apply);
  ASSERT_FALSE(advice.combinations.empty());
  EXPECT_EQ(advice.combinations.front().allocated, 3000u);
}

TEST(AdviseStudy, LooksForTheGoal) {
  FakeExecutor reached(answer), missed(answer);
  EXPECT_EQ(run_advise(base(), 3500, reached).advice.goal->cheapest.value().levers.size(), 2u);
  EXPECT_FALSE(run_advise(base(), 10, missed).advice.goal->cheapest);
}

TEST(AdviseStudy, AnInterruptionDropsWhatIsUnmeasured) {
  FakeExecutor executor(answer);
  executor.interrupted_after = 5;  // the base, the inspection, three levers
  AdviseAnswer ended = run_advise(base(), 3500, executor);
  EXPECT_TRUE(ended.is_interrupted);
  EXPECT_EQ(std::count_if(ended.advice.levers.begin(), ended.advice.levers.end(),
                          [](const LeverResult& lever) { return lever.why_not.empty(); }),
            3);
  EXPECT_FALSE(ended.advice.goal);
}

TEST(AdviseStudy, ABaseRunThatFailsEndsIt) {
  FakeExecutor executor([](const Job&) { return FakeExecutor::failed(ErrorKind::model_failed); });
  EXPECT_TRUE(run_advise(base(), {}, executor).has_failed());
  EXPECT_EQ(executor.calls.size(), 1u);
}

}  // namespace
}  // namespace torchmem
