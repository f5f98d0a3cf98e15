#include <algorithm>
#include <iostream>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cli/save_records.h"
#include "cli/value_options.h"
#include "launch/process_records.h"
#include "launch/program_run.h"
#include "launch/read_processes.h"
#include "report/process_report.h"
#include "request/fields.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr const char* footer =
    "Usage: torchmem run [OPTIONS] -- PROGRAM ARGUMENTS...\n"
    "Everything after -- is the program and its arguments:\n"
    "  torchmem run --device virtual:h200 -- python3 train.py --epochs 1\n"
    "When it ends, standard error has one line for each process that used the device, and what was assumed. "
    "--json lists all of it with operators and lines, --save keeps whose the memory was. The exit code is "
    "the "
    "program's own; 2 if --max-assumed-reads ended it or there is no such program, 3 if this machine cannot "
    "run it.";

class RunCommand : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--device", device_,
                   "auto (a real GPU if there is one, else virtual:h200), cuda, virtual, virtual:PROFILE, "
                   "virtual:FILE.json")
        ->option_text("DEVICE (default auto)");
    app.add_option("--devices", devices_, "How many virtual devices there are, 1 to 8, all alike")
        ->option_text("N (default 1)")
        ->check(CLI::Range(1, most_virtual_devices));
    add_value_options(app, values_);
    app.add_option(
           "--save", save_,
           "Record everything, with Python's lines, as a memory snapshot for torchmem inspect; memory_viz "
           "opens it too")
        ->option_text("RUN.pickle")
        ->group("Output");
    app.add_option("--limit", limit_,
                   "The most that the allocator of each process may reserve on a device, e.g. 8GiB")
        ->option_text("SIZE");
    add_html_option(app, html_,
                    "A page with the processes; with --save one to look at the recorded run with");
    add_markdown_option(app, markdown_);
    app.footer(footer);
  }

  ExitCode run() override {
    try {
      return start();
    } catch (const Error& error) {
      // The program was not started: that must not look like an exit code of its own.
      bool is_ours = error.kind() == ErrorKind::bad_usage || error.kind() == ErrorKind::bad_input;
      throw Error(is_ours ? error.kind() : ErrorKind::unavailable, error.what());
    }
  }

 private:
  ExitCode start() {
    if (program.empty()) {
      throw Error(ErrorKind::bad_usage,
                  "no program to run. Expected: torchmem run [OPTIONS] -- PROGRAM ARGUMENTS...");
    }
    check_outputs({{"--save", save_}, {"--html", html_}, {"--json", common.json}, {"--markdown", markdown_}},
                  {values_.assume_file});
    outputs_checked = true;
    const ValueSettings values = value_settings(values_);
    DeviceChoice device = choose_device(device_);
    ProgramOptions options{devices_, device_ != "auto" && device_ != "cuda", !save_.empty(), values};
    if (!limit_.empty()) options.limit_bytes = limit_bytes_of(limit_);
    ProgramRun run(program, device, options);
    const ProgramProcesses processes = read_processes(run.state());
    report(run, processes, device);
    // A launcher has an exit code of its own when a process of its is ended.
    if (!processes.ended.empty()) return ExitCode::could_not;
    return static_cast<ExitCode>(run.exit_code());
  }

  // The program's own exit code stands whatever happens here.
  void report(const ProgramRun& run, const ProgramProcesses& processes, const DeviceChoice& device) const {
    std::cerr << processes_text(processes, run.is_virtual())
              << more_text(processes, common.json.empty(), save_.empty()) << std::flush;
    std::vector<ProcessRecord> records;
    if (!save_.empty()) records = read_process_records(run.state(), program, device);
    try {
      write_results(
          {{{"--json", common.json}, [&] { return json_text(document_of(run, processes)); }},
           {{"--markdown", markdown_}, [&] { return processes_markdown(processes, run.is_virtual()); }},
           {{"--html", records.empty() ? html_ : ""},
            [&] { return processes_html(processes, run.is_virtual()); }}},
          nullptr);
      if (!save_.empty()) write_process_records(records, {"--save", save_}, write_run);
      auto page = [&](const Run& of) { return html_report(of, program[0]); };
      if (!html_.empty() && !records.empty()) write_process_records(records, {"--html", html_}, page);
    } catch (const Error& error) {
      std::cerr << "torchmem: " << error.what() << std::endl;
    }
  }

  json document_of(const ProgramRun& run, const ProgramProcesses& processes) const {
    json document = {
        {"schema", "torchmem.processes/1"}, {"torchmem", TORCHMEM_VERSION}, {"program", program}};
    document.update(run.end());
    document["processes"] = processes_json(processes);
    for (const auto& [pid, reason] : processes.ended)
      document["ended"].push_back({{"pid", pid}, {"reason", reason}});
    return document;
  }

  std::string device_ = "auto";
  std::string limit_;
  std::string html_;
  std::string markdown_;
  ValueOptions values_;
  std::string save_;
  int devices_ = 0;  // 0: not given
};

}  // namespace

std::unique_ptr<Command> make_run_command() { return std::make_unique<RunCommand>(); }

}  // namespace torchmem
