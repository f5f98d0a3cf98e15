#include "study/compare_study.h"

#include <gtest/gtest.h>

#include "fake_executor.h"
#include "request/spec.h"
#include "torchmem/error.h"

namespace torchmem {
namespace {

Job base_job(const char* input = "f32:4x3") {
  Job job;
  job.request.inputs = parse_inputs({input}, Dimensions::numbers_and_names);
  return job;
}

// Training takes twice what inference does, and a batch in micro-batches does not fit.
Run run_of(const Job& job) {
  Run run;
  run.is_ours = true;
  if (job.request.accumulate > 1) {
    run.error = RunError{ErrorKind::out_of_memory, "CUDA out of memory.", {}, {}, nlohmann::json::object()};
    return run;
  }
  Phase phase;
  phase.name = "forward";
  phase.allocated = Usage{0, job.request.mode == Mode::train ? 2000u : 1000u};
  run.phases.push_back(phase);
  return run;
}

std::string refusal(const Job& base, const std::vector<std::string>& variants) {
  try {
    variant_jobs(base, variants);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_usage);
    return error.what();
  }
  return "";
}

TEST(CompareStudy, RunsEachVariantOfTheBase) {
  FakeExecutor executor(run_of);
  const std::vector<RunResult> outcomes = compare(executor, variant_jobs(base_job(), {"train", "no_grad"}));
  ASSERT_EQ(executor.calls.size(), 2u);
  EXPECT_EQ(executor.calls[1].request.mode, Mode::inference);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(outcomes[0].name, "train");
  EXPECT_EQ(outcomes[0].peak->allocated, 2000u);
  EXPECT_EQ(outcomes[1].name, "no_grad");
  EXPECT_EQ(outcomes[1].peak->allocated, 1000u);
}

TEST(CompareStudy, OneThatFailsLeavesTheOthers) {
  FakeExecutor executor(run_of);
  const std::vector<RunResult> outcomes =
      compare(executor, variant_jobs(base_job(), {"accumulate=2", "train"}));
  EXPECT_EQ(outcomes[0].run.error->kind, ErrorKind::out_of_memory);
  EXPECT_FALSE(outcomes[1].run.error);
  EXPECT_EQ(outcomes[1].peak->allocated, 2000u);
}

TEST(CompareStudy, AnInterruptionLeavesWhatIsMeasured) {
  FakeExecutor executor(run_of);
  executor.interrupted_after = 1;
  const std::vector<RunResult> outcomes =
      compare(executor, variant_jobs(base_job(), {"train", "no_grad", "grad"}));
  EXPECT_EQ(executor.calls.size(), 1u);
  EXPECT_EQ(outcomes[0].peak->allocated, 2000u);
  for (size_t i : {1, 2}) EXPECT_EQ(outcomes[i].run.error->kind, ErrorKind::interrupted);
  EXPECT_EQ(outcomes[2].name, "grad");
}

TEST(CompareStudy, MistakesAreSaidBeforeAnyRun) {
  EXPECT_EQ(refusal(base_job(), {"train", "grad", "train"}), "--variant train is given twice");
  EXPECT_TRUE(refusal(base_job(), {"trian"}).starts_with("--variant trian"));
  EXPECT_NE(refusal(base_job("f32:Bx3"), {"train"}).find("the inputs of train"), std::string::npos);
}

}  // namespace
}  // namespace torchmem
