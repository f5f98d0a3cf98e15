#include "launch/process_states.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>

namespace torchmem {

namespace fs = std::filesystem;

namespace {

std::optional<torchmem_process_state> read_state(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  torchmem_process_state state;
  if (!in.read(reinterpret_cast<char*>(&state), sizeof state)) return std::nullopt;
  if (state.magic != TORCHMEM_PROCESS_STATE_MAGIC || state.version != TORCHMEM_PROCESS_STATE_VERSION)
    return std::nullopt;
  state.command[sizeof state.command - 1] = '\0';
  return state;
}

// Of processes that had no room for their numbers, what they left of themselves.
std::vector<torchmem_process_state> read_states_without_room(const fs::path& directory) {
  std::vector<torchmem_process_state> states;
  std::ifstream in(directory / "no-room", std::ios::binary);
  torchmem_no_room_entry entry;
  while (in.read(reinterpret_cast<char*>(&entry), sizeof entry) && entry.pid != 0) {
    torchmem_process_state state{};
    state.pid = entry.pid;
    state.device_used = state.allocated = state.no_room = 1;
    std::memcpy(state.command, entry.command, sizeof entry.command - 1);
    states.push_back(state);
  }
  return states;
}

}  // namespace

std::vector<torchmem_process_state> process_states(const fs::path& directory) {
  std::vector<torchmem_process_state> states = read_states_without_room(directory);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!entry.path().filename().string().starts_with("process-")) continue;
    auto state = read_state(entry.path());
    if (state && (state->device_used || state->unmodelled_calls)) states.push_back(*state);
  }
  std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return states;
}

bool is_measured(const torchmem_process_state& state) { return state.agent_loaded || !state.allocated; }

uint64_t outside_of(const torchmem_device_state& device) {
  return std::max(device.outside, device.peak_outside);
}

}  // namespace torchmem
