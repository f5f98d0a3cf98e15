#include "study/gate_study.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <iterator>

#include "fake_executor.h"
#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

constexpr uint64_t MiB = 1 << 20;

GateQuestion question_with(std::optional<uint64_t> budget) {
  GateQuestion question;
  question.model = "model.pt";
  question.subjects = {{GateSubject::Scope::run, "", Metric::allocated},
                       {GateSubject::Scope::run, "", Metric::reserved}};
  question.budget = budget;
  question.baseline_file = "b.json";
  return question;
}

GateQuestion question_with(const RunResult& before) {
  GateQuestion question = question_with(std::nullopt);
  question.baseline = baseline_of(before);
  return question;
}

// One block of so many MiB in a segment of twice as many.
Run run_of(uint64_t mebibytes, const std::string& mode = "inference") {
  Run run;
  run.is_ours = true;
  run.info.model.path = "model.pt";
  run.info.device.kind = "virtual";
  run.info.device.profile = "h200";
  run.info.software.torch = "2.11.0";
  run.info.arguments.mode = mode;
  Event segment;
  segment.action = Action::segment_alloc;
  segment.address = 1ull << 40;
  segment.size = 2 * mebibytes * MiB;
  Event block;
  block.address = segment.address;
  block.size = block.block_size = mebibytes * MiB;
  block.category = Category::activations;
  run.traces = {{segment, block}};
  Phase phase;
  phase.name = "forward";
  phase.iteration = 0;
  phase.events = {2};
  phase.allocated = Usage{block.size, block.size};
  phase.reserved = Usage{segment.size, segment.size};
  run.phases.push_back(phase);
  return run;
}

Run failed_run(ErrorKind kind) {
  Run run = run_of(1);
  run.error = RunError{kind, "it went wrong", "forward", 0, json::object()};
  return run;
}

Run decided(Run run) {
  AssumptionRecord read;
  read.kind = Assumption::assumed_value;
  read.count = 1;
  read.op = "aten::item";
  read.line = "m.py:7";
  read.decides = Decision::size;
  run.assumptions.push_back(read);
  return run;
}

RunResult measured(const Run& run) {
  FakeExecutor executor([&](const Job&) { return run; });
  RunResult outcome = measure_model(executor, Job{});
  EXPECT_EQ(executor.calls.size(), 1u);
  return outcome;
}

ErrorKind kind_of(const std::function<void()>& what, const std::string& message) {
  try {
    what();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::internal;
}

TEST(GateStudy, PassesAtTheBudgetAndFailsAboveIt) {
  const RunResult outcome = measured(run_of(4));
  const GateReport passed = judge(question_with(8 * MiB), outcome);
  EXPECT_EQ(passed.verdict(), GateVerdict::passed);
  EXPECT_EQ(passed.what, "model.pt on virtual:h200, torch 2.11.0");
  EXPECT_EQ(passed.checks[0].measured, 4 * MiB);
  EXPECT_EQ(passed.checks[1].measured, 8 * MiB);
  EXPECT_TRUE(passed.segments.empty());
  const GateReport failed = judge(question_with(8 * MiB - 1), outcome);
  EXPECT_EQ(failed.verdict(), GateVerdict::failed);
  EXPECT_FALSE(failed.error);
  // What holds the segments explains it, baseline or not.
  ASSERT_EQ(failed.segments.size(), 1u);
  EXPECT_EQ(failed.segments[0].bytes, 8 * MiB);
  EXPECT_TRUE(failed.growth.empty());
}

TEST(GateStudy, SaysWhatGrewSinceTheBaseline) {
  const GateReport report = judge(question_with(measured(run_of(4))), measured(run_of(6)));
  EXPECT_EQ(report.verdict(), GateVerdict::failed);
  ASSERT_FALSE(report.growth.empty());
  EXPECT_EQ(report.growth[0].name, "activations");
  EXPECT_EQ(report.growth[0].measured, 6 * MiB);
  ASSERT_FALSE(report.reserved_growth.empty());
  EXPECT_EQ(report.reserved_growth[0].measured, 12 * MiB);
  EXPECT_EQ(judge(question_with(measured(run_of(6))), measured(run_of(6))).verdict(), GateVerdict::passed);
}

TEST(GateStudy, AnotherRunIsNotCompared) {
  const GateQuestion question = question_with(measured(run_of(4, "train")));
  EXPECT_EQ(kind_of([&] { judge(question, measured(run_of(4))); },
                    "b.json was made with another arguments.mode: \"train\" there"),
            ErrorKind::bad_input);
}

TEST(GateStudy, OutOfMemoryIsAVerdictAndOtherErrorsAreNone) {
  EXPECT_EQ(judge(question_with(MiB), measured(failed_run(ErrorKind::out_of_memory))).verdict(),
            GateVerdict::failed);
  for (ErrorKind kind : {ErrorKind::model_failed, ErrorKind::unavailable}) {
    const GateReport report = judge(question_with(MiB), measured(failed_run(kind)));
    EXPECT_EQ(report.verdict(), GateVerdict::error);
    EXPECT_EQ(report.error->kind, kind);
    EXPECT_FALSE(report.numbers);
  }
}

TEST(GateStudy, AnInterruptionIsNoVerdict) {
  FakeExecutor executor([](const Job&) { return run_of(1); });
  executor.interrupted_after = 0;
  const GateReport report = judge(question_with(8 * MiB), measure_model(executor, Job{}));
  EXPECT_TRUE(executor.calls.empty());
  EXPECT_EQ(report.verdict(), GateVerdict::error);
  EXPECT_EQ(report.error->kind, ErrorKind::interrupted);
}

TEST(GateStudy, NoVerdictWhereAnAssumedValueDecided) {
  GateQuestion question = question_with(8 * MiB);
  const RunResult outcome = measured(decided(run_of(4)));
  GateReport report = judge(question, outcome);
  EXPECT_EQ(report.verdict(), GateVerdict::error);
  EXPECT_EQ(report.error->kind, ErrorKind::decided_by_assumed_values);
  EXPECT_TRUE(report.error->message.starts_with("no verdict: aten::item at m.py:7"));
  EXPECT_EQ(report.checks.size(), 2u);  // what was measured is told all the same
  question.updates = true;
  EXPECT_TRUE(judge(question, outcome).error->message.ends_with(" The baseline was not written."));
  question.allow_assumed = true;
  report = judge(question, outcome);
  EXPECT_EQ(report.verdict(), GateVerdict::passed);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_TRUE(report.warnings[0].starts_with("accepted with --allow-assumed: aten::item"));
}

TEST(GateStudy, OutOfMemoryThatAnAssumedValueDecidedIsNoVerdict) {
  GateQuestion question = question_with(MiB);
  const RunResult outcome = measured(decided(failed_run(ErrorKind::out_of_memory)));
  EXPECT_TRUE(
      judge(question, outcome).error->message.starts_with("no verdict: out of memory, but aten::item"));
  question.allow_assumed = true;
  EXPECT_EQ(judge(question, outcome).error->kind, ErrorKind::out_of_memory);
  // Another failure is told as it is.
  EXPECT_EQ(judge(question_with(MiB), measured(decided(failed_run(ErrorKind::model_failed)))).error->kind,
            ErrorKind::model_failed);
}

torchmem_process_state process_with(std::initializer_list<std::pair<uint64_t, uint64_t>> peaks) {
  torchmem_process_state state{};
  state.device_used = state.allocated = state.agent_loaded = 1;
  std::strcpy(state.command, "train.py");
  size_t index = 0;
  for (const auto& [allocated, reserved] : peaks) {
    torchmem_device_state& device = state.devices[index++];
    device.used = 1;
    device.peak_allocated = allocated;
    device.peak_reserved = reserved;
  }
  return state;
}

TEST(GateStudy, OfAProgramTheHighestOfItsProcessesAndDevices) {
  ProgramResult result;
  result.processes = {process_with({{5, 10}, {7, 8}}), process_with({{6, 9}})};
  result.run.info = run_of(1).info;
  const RunResult outcome = measure_program(std::move(result));
  EXPECT_EQ(outcome.peak->allocated, 7u);
  EXPECT_EQ(outcome.peak->reserved, 10u);
  GateQuestion question = question_with(10);
  question.model = "python3 train.py";
  question.is_program = true;
  const GateReport report = judge(question, outcome);
  EXPECT_EQ(report.verdict(), GateVerdict::passed);
  EXPECT_TRUE(report.what.starts_with("python3 train.py on "));
}

TEST(GateStudy, AProgramThatDidNotEndWellIsNoMeasurement) {
  auto kind = [](ProgramResult result, const std::string& message) {
    return kind_of([&] { measure_program(std::move(result)); }, message);
  };
  const std::vector<torchmem_process_state> good = {process_with({{5, 9}})};
  EXPECT_EQ(kind({0, true, good, {}, {}}, "interrupted"), ErrorKind::interrupted);
  EXPECT_EQ(kind({137, false, good, {"too many reads"}, {}}, "the program was ended: too many reads"),
            ErrorKind::assumed_reads);
  EXPECT_EQ(kind({3, false, good, {}, {}}, "ended with code 3, so its peaks"), ErrorKind::model_failed);
  std::vector<torchmem_process_state> ran_out = good;
  ran_out[0].devices[0].out_of_memory = 2;
  EXPECT_EQ(kind({1, false, ran_out, {}, {}}, "code 1 after 2 out-of-memory errors, so"),
            ErrorKind::model_failed);
  EXPECT_EQ(kind({}, "the program never allocated on a CUDA device"), ErrorKind::model_failed);
  std::vector<torchmem_process_state> foreign = good;
  foreign[0].agent_loaded = 0;
  EXPECT_EQ(kind({0, false, foreign, {}, {}}, "train.py used the device, but its peaks are not measured"),
            ErrorKind::model_failed);
}

}  // namespace
}  // namespace torchmem
