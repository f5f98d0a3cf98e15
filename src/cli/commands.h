// The commands: one file each, one line each in the table.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common_options.h"
#include "launch/exit_code.h"
#include "torchmem/run.h"

namespace torchmem {

class Command {
 public:
  virtual ~Command() = default;
  // Declares the command's options.
  virtual void declare(CLI::App& app) = 0;
  // Does the work. Throws Error for what the command cannot do; `exit_code_of` turns it into the exit code.
  virtual ExitCode run() = 0;
  // What is written to --json in place of a result when run() throws; null: nothing.
  virtual nlohmann::json error_document(const Error& error) const;

  // For a command that runs a program: the arguments after "--".
  std::vector<std::string> program;
  CommonOptions common;
  // Set once check_outputs has found that --json=FILE may be written: until then not even an error goes
  // there.
  bool outputs_checked = false;
  // Set once the result is written, or was tried to be: an error that comes then does not take its place.
  bool result_written = false;
};

// An error of the command as a run has it, for what is made of both.
RunError run_error(const Error& error);

struct CommandEntry {
  const char* name;
  const char* summary;
  bool takes_program;
  std::unique_ptr<Command> (*make)();
};

const std::vector<CommandEntry>& command_table();

std::unique_ptr<Command> make_profile_command();
std::unique_ptr<Command> make_compare_command();
std::unique_ptr<Command> make_gate_command();
std::unique_ptr<Command> make_estimate_command();
std::unique_ptr<Command> make_fit_command();
std::unique_ptr<Command> make_inspect_command();
std::unique_ptr<Command> make_devices_command();
std::unique_ptr<Command> make_diff_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_scenario_command();
std::unique_ptr<Command> make_advise_command();

}  // namespace torchmem
