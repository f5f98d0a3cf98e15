#include "cli/commands.h"

namespace torchmem {

const std::vector<CommandEntry>& command_table() {
  static const std::vector<CommandEntry> table = {
      {"profile", "Run a model once: phases, peak, where the memory goes", false, make_profile_command},
      {"compare", "Variants of a run, side by side", false, make_compare_command},
      {"fit", "The largest batch, or other size, that fits a device or a limit", false, make_fit_command},
      {"gate", "Pass or fail: no more memory than a baseline or a budget allows", true, make_gate_command},
      {"estimate", "What parameters take, by type and optimizer, before any run", false,
       make_estimate_command},
      {"inspect", "What is in a model file, run file or memory snapshot", false, make_inspect_command},
      {"diff", "What differs between two runs: phases, peak, and who owns it", false, make_diff_command},
      {"run", "Run a program that uses PyTorch, on the virtual GPU or a real one", true, make_run_command},
      {"advise", "Run every lever that applies, and rank them by the memory they save", false,
       make_advise_command},
      {"scenario", "Run a short program of actions: several models, changing shapes, releases", false,
       make_scenario_command},
      {"devices", "The device profiles, and the GPUs of this machine", false, make_devices_command},
  };
  return table;
}

RunError run_error(const Error& error) {
  return {error.kind(), error.what(), {}, {}, nlohmann::json::object()};
}

nlohmann::json Command::error_document(const Error&) const { return nullptr; }

}  // namespace torchmem
