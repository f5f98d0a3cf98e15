#include "study/fit_study.h"

#include <gtest/gtest.h>

#include "fake_executor.h"
#include "request/spec.h"

namespace torchmem {
namespace {

constexpr uint64_t limit = 1000;

uint64_t size_of(const Job& job) {
  return job.request.inputs.positional[0]["tensor"]["shape"][0].get<uint64_t>();
}

// Ten bytes for each of the size.
Run linear(const Job& job) {
  uint64_t bytes = 10 * size_of(job);
  if (bytes > job.request.limit_bytes.value_or(UINT64_MAX))
    return FakeExecutor::failed(ErrorKind::out_of_memory);
  return FakeExecutor::with_peak(bytes);
}

FitQuestion question() {
  FitQuestion question;
  question.request.inputs = parse_inputs({"f32:Bx3"}, Dimensions::numbers_and_names);
  question.request.limit_bytes = limit;
  question.dimension = "B";
  question.devices = {{"virtual:h200", {}}};
  return question;
}

TEST(FitStudy, FindsTheLargest) {
  FakeExecutor executor(linear);
  FitAnswer answer = run_fit(question(), executor);
  EXPECT_FALSE(answer.failure || answer.doubt);
  EXPECT_EQ(answer.results[0].largest, 100u);
  EXPECT_GE(answer.results[0].checked_through, 104u);
  EXPECT_EQ(executor.calls[0].name, "B = 1");
}

TEST(FitStudy, TellsWhatTheSmallestNeeds) {
  FitQuestion asked = question();
  asked.bounds.least = 200;
  FakeExecutor executor(linear);
  FitAnswer answer = run_fit(asked, executor);
  EXPECT_FALSE(answer.found() || answer.failure);
  EXPECT_EQ(answer.results[0].unlimited->outcome.peak->reserved, 2000u);
  EXPECT_GT(executor.calls.back().device.total_bytes.value_or(0), uint64_t{1} << 40);
}

TEST(FitStudy, FailuresThatAreNotMemoryAreNoAnswer) {
  FakeExecutor executor([](const Job&) { return FakeExecutor::failed(ErrorKind::model_failed); });
  FitAnswer answer = run_fit(question(), executor);
  EXPECT_EQ(answer.failure.value().kind(), ErrorKind::model_failed);
  EXPECT_FALSE(answer.results[0].unlimited);
}

TEST(FitStudy, ADeviceThatCannotBeUsedEndsIt) {
  FakeExecutor executor([](const Job&) { return FakeExecutor::failed(ErrorKind::unavailable); });
  EXPECT_THROW(run_fit(question(), executor), Error);
}

TEST(FitStudy, AnInterruptionKeepsWhatWasMeasured) {
  FakeExecutor executor(linear);
  executor.interrupted_after = 3;
  FitAnswer answer = run_fit(question(), executor);
  EXPECT_EQ(answer.failure.value().kind(), ErrorKind::interrupted);
  EXPECT_EQ(answer.results[0].trials.size(), 3u);
}

TEST(FitStudy, ARunThatAssumedReadsEndedIsDoubtful) {
  FakeExecutor executor([](const Job& job) {
    return size_of(job) == 101 ? FakeExecutor::failed(ErrorKind::assumed_reads) : linear(job);
  });
  EXPECT_EQ(run_fit(question(), executor).doubt.value().kind(), ErrorKind::assumed_reads);
}

TEST(FitStudy, TheTableHasTheEndsOfEqualRowsAlone) {
  FitQuestion asked = question();
  asked.bounds.most = 9;
  asked.bounds.exhaustive = true;
  FakeExecutor executor([](const Job& job) { return FakeExecutor::with_peak(size_of(job) < 3 ? 100 : 200); });
  const std::string text = fit_text(run_fit(asked, executor).results);
  auto has_row = [&](int size) {
    return text.find("\n          " + std::to_string(size) + " ") != std::string::npos;
  };
  for (int size : {1, 2, 3, 9}) EXPECT_TRUE(has_row(size)) << text;
  for (int size : {4, 8}) EXPECT_FALSE(has_row(size)) << text;
}

}  // namespace
}  // namespace torchmem
