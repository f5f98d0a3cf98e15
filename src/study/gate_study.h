// Whether a run needs no more memory than it may: what is asked, the measurement, and the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/run_executor.h"
#include "report/gate_report.h"
#include "run/program_processes.h"
#include "torchmem/gate.h"

namespace torchmem {

struct GateQuestion {
  std::string model;        // the model's path, or the program with its arguments
  bool is_program = false;  // the latter
  std::vector<GateSubject> subjects;
  std::optional<Baseline> baseline;
  std::string baseline_file;  // what messages call it
  Tolerance tolerance;
  std::optional<uint64_t> budget;  // bytes
  std::string against;             // baseline, tolerance and budget in words
  bool updates = false;            // what is measured becomes the baseline
  bool allow_assumed = false;      // an assumed value that decided what ran is a warning, not the end
};

// Runs the model once. What goes wrong is in the outcome's run.
RunResult measure_model(RunExecutor& executor, const Job& job);

// What is left of a program that has ended.
struct ProgramResult {
  int exit_code = 0;
  bool interrupted = false;
  std::vector<torchmem_process_state> processes;
  std::vector<std::string> ended;  // for each process that the agent ended: why
  Run run;                         // its info and assumptions
};

// The highest of its processes and devices. Throws Error(interrupted, assumed_reads, model_failed) where the
// program was ended, failed, or left no peak that is its own.
RunResult measure_program(ProgramResult result);

// The answer; nothing is written. An error of the run is the report's, and out of memory the verdict. Where
// an assumed value decided what ran and that is not allowed, the report's error is
// ErrorKind::decided_by_assumed_values. Throws Error(bad_usage, bad_input) for a subject that was not
// measured, and for a baseline of something else.
GateReport judge(const GateQuestion& question, const RunResult& outcome);

}  // namespace torchmem
