// Runs a program that uses PyTorch with the agent in it, on the virtual GPU or a real one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "launch/child_process.h"
#include "launch/device_choice.h"
#include "launch/temporary_directory.h"
#include "request/values.h"

namespace torchmem {

constexpr int most_virtual_devices = 8;

struct ProgramOptions {
  int devices = 0;            // how many the virtual machine has; 0: one
  bool number_given = false;  // a real device's number was asked for: the program sees only that one
  bool records = false;       // the agent records everything that happens, for process_records.h
  ValueSettings values;
  // What the allocator of each process may reserve on a device; PyTorch is told by its own variable, so a
  // program that sets that itself, or its own fraction, goes by its own.
  std::optional<uint64_t> limit_bytes = {};
};

class ProgramRun {
 public:
  // Runs it to its end. Throws Error(bad_usage, unavailable) when it was not started.
  ProgramRun(const std::vector<std::string>& program, const DeviceChoice& device,
             const ProgramOptions& options);
  // The program's own exit code; as a shell has it for death by a signal.
  int exit_code() const;
  bool interrupted() const { return result_.interrupted; }
  bool is_virtual() const { return is_virtual_; }  // it ran on the virtual GPU
  // {"exit_code": N} or {"signal": N}.
  nlohmann::json end() const;
  // What its processes left (process_report.h reads it).
  const std::filesystem::path& state() const { return state_.path(); }

 private:
  bool is_virtual_;
  TemporaryDirectory state_;
  ChildResult result_;
};

}  // namespace torchmem
