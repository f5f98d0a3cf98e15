// Starts the engine, waits for it, and makes a run of what it told, also when it was stopped, killed or
// crashed.
#pragma once

#include <filesystem>
#include <optional>

#include "launch/child_process.h"
#include "launch/device_choice.h"
#include "launch/preload.h"
#include "launch/run_progress.h"
#include "launch/temporary_directory.h"
#include "request/run_request.h"
#include "torchmem/run.h"

namespace torchmem {

// What it takes to start the engine for one request, and what came of it.
class EngineProcess {
 public:
  // `request` is as for run_engine. Throws Error(unavailable) when a part of the installation is missing or
  // no file can be written.
  // `one_of_many`: an engine is kept loaded for all runs of the same child group, where that can be.
  EngineProcess(RunRequest request, const DeviceChoice& device, bool one_of_many = false);
  // How to start it, as long as this object lives.
  const ChildOptions& child() const { return child_; }
  // Where it tells what happens, while it happens.
  const std::filesystem::path& stream() const { return stream_; }
  // The run, once the process has ended.
  Run finish(const ChildResult& result) const;

 private:
  TemporaryDirectory directory_;
  std::optional<PreloadList> libraries_;
  std::filesystem::path stream_;
  bool is_scenario_ = false;
  ChildOptions child_;
};

// The request's stream and device are set here. The run's `error` says
// what went wrong, if anything: an interruption (SIGINT, SIGTERM) is ErrorKind::interrupted. Throws
// Error(unavailable) when the engine cannot be started at all. `progress`, if any, is kept up to date.
Run run_engine(RunRequest request, const DeviceChoice& device, RunProgress* progress = nullptr);

}  // namespace torchmem
