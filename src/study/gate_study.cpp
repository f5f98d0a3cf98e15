#include "study/gate_study.h"

#include <algorithm>
#include <utility>

#include "launch/engine_info.h"
#include "report/accuracy.h"
#include "report/run_result_text.h"
#include "report/text.h"
#include "run/utf8.h"

namespace torchmem {

namespace {

// A program may also have caught it and ended for another reason: a hint, no verdict.
std::string ran_out_text(const std::vector<torchmem_process_state>& processes) {
  uint64_t count = 0;
  for (const torchmem_process_state& process : processes) {
    for (const torchmem_device_state& device : process.devices) count += device.out_of_memory;
  }
  return count == 0 ? "" : " after " + counted(count, "out-of-memory error");
}

void check_ended_well(const ProgramResult& result) {
  if (result.interrupted) throw Error(ErrorKind::interrupted, "interrupted");
  if (!result.ended.empty())
    throw Error(ErrorKind::assumed_reads, "the program was ended: " + result.ended.front());
  if (result.exit_code == 0) return;
  throw Error(ErrorKind::model_failed, "the program ended with code " + std::to_string(result.exit_code) +
                                           ran_out_text(result.processes) +
                                           ", so its peaks are not those of a whole run");
}

// What there is more of where a check failed.
void explain(const RunResult& outcome, const GateNumbers* baseline, GateReport& report) {
  for (const GateCheck& check : report.checks) {
    if (check.passed()) continue;
    bool is_allocated = check.metric == Metric::allocated;
    if (check.baseline && is_allocated) report.growth = find_gate_growth(*report.numbers, *baseline);
    if (check.baseline && !is_allocated)
      report.reserved_growth = find_reserved_growth(*report.numbers, *baseline);
    if (!is_allocated && outcome.reserved_peak) report.segments = outcome.reserved_peak->segments;
  }
}

// Where an assumed value decided what ran: there is no verdict, or a warning where that was accepted.
void doubt(const GateQuestion& question, const Run& run, const std::string& start, GateReport& report) {
  const std::string decided = decision_text(run.assumptions);
  if (decided.empty()) return;
  if (question.allow_assumed) {
    report.warnings.push_back("accepted with --allow-assumed: " + decided);
    return;
  }
  const Error error = decided_error(start, run);
  report.error = RunError{error.kind(), error.what(), {}, {}, nlohmann::json::object()};
  if (question.updates) report.error->message += " The baseline was not written.";
}

void check(const GateQuestion& question, const RunResult& outcome, GateReport& report) {
  const Baseline now = baseline_of(outcome);
  report.numbers = now.numbers;
  const GateNumbers* before = nullptr;
  if (question.baseline) {
    before = &question.baseline->numbers;
    report.warnings = compare_baselines(*question.baseline, now, question.baseline_file);
  }
  report.checks = check_gate(question.subjects, now.numbers, before, question.tolerance, question.budget);
  explain(outcome, before, report);
}

}  // namespace

RunResult measure_model(RunExecutor& executor, const Job& job) {
  Run run = executor.run_one(job);
  std::optional<ReservedPeak> reserved_peak = reserved_peak_of(run);
  RunResult outcome = run_result_of("", std::move(run));
  outcome.reserved_peak = std::move(reserved_peak);
  return outcome;
}

RunResult measure_program(ProgramResult result) {
  check_ended_well(result);
  RunResult outcome;
  for (const torchmem_process_state& process : result.processes) {
    if (!is_measured(process)) {
      throw Error(ErrorKind::model_failed,
                  valid_utf8(process.command) + " used the device, but its peaks are not measured");
    }
    for (const torchmem_device_state& device : process.devices) {
      if (!device.used && outside_of(device) == 0) continue;
      Peak& peak = outcome.peak ? *outcome.peak : outcome.peak.emplace();
      peak.allocated = std::max(peak.allocated, device.peak_allocated);
      peak.reserved = std::max(peak.reserved.value_or(0), device.peak_reserved);
    }
  }
  if (!outcome.peak) throw Error(ErrorKind::model_failed, "the program never allocated on a CUDA device");
  outcome.run = std::move(result.run);
  return outcome;
}

GateReport judge(const GateQuestion& question, const RunResult& outcome) {
  const Run& run = outcome.run;
  GateReport report;
  report.run = run;
  report.model = question.model;
  report.what = (question.is_program ? question.model + " on " : "") + where_text(run);
  report.against = question.against;
  report.error = run.error;
  if (!report.error) {
    check(question, outcome, report);
    doubt(question, run, "no verdict: ", report);
  } else if (report.error->kind == ErrorKind::out_of_memory) {
    doubt(question, run, "no verdict: out of memory, but ", report);
  }
  return report;
}

}  // namespace torchmem
