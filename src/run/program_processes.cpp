#include "run/program_processes.h"

#include <algorithm>

#include "run/assumption_json.h"
#include "run/utf8.h"

namespace torchmem {

std::vector<torchmem_process_state> ProgramProcesses::states() const {
  std::vector<torchmem_process_state> states;
  for (const ProgramProcess& process : used) states.push_back(process.state);
  return states;
}

bool is_measured(const torchmem_process_state& state) { return state.agent_loaded || !state.allocated; }

uint64_t outside_of(const torchmem_device_state& device) {
  return std::max(device.outside, device.peak_outside);
}

const std::vector<CountedAssumption>& counted_assumptions() {
  static const std::vector<CountedAssumption> all = {
      {Assumption::assumed_value, &torchmem_process_state::assumed_values},
      {Assumption::estimated_workspace, &torchmem_process_state::estimated_workspaces},
      {Assumption::unmodelled_call, &torchmem_process_state::unmodelled_calls},
  };
  return all;
}

std::vector<AssumptionRecord> assumptions_of(const ProgramProcesses& processes) {
  std::vector<AssumptionRecord> all;
  for (const ProgramProcess& process : processes.used) {
    const torchmem_process_state& state = process.state;
    const std::string command = valid_utf8(state.command);
    auto told = process.assumptions.value_or(std::vector<AssumptionRecord>());
    for (const CountedAssumption& counted : counted_assumptions()) {
      uint64_t count = 0;
      for (const auto& assumption : told) count += assumption.kind == counted.kind ? assumption.count : 0;
      if (state.*counted.count <= count) continue;
      AssumptionRecord& untold = told.emplace_back();
      untold.kind = counted.kind;
      untold.count = state.*counted.count - count;
      untold.name = command;
    }
    for (AssumptionRecord& assumption : told) {
      assumption.rest["process"] = command;
      add_assumption(all, std::move(assumption));
    }
  }
  return all;
}

}  // namespace torchmem
