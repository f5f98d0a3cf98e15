#include "launch/read_processes.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <tuple>

#include "launch/process_assumptions.h"
#include "run/utf8.h"
#include "text/printable.h"

namespace torchmem {

namespace fs = std::filesystem;

namespace {

constexpr size_t longest_note = 4096;

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

// Of each process that used the device, or wanted of it what it cannot do, by process id.
std::vector<torchmem_process_state> read_states(const fs::path& directory) {
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

// Of the notes `<kind>-<pid>`: pid and text.
std::vector<ProcessNote> read_notes(const fs::path& directory, const std::string& kind) {
  std::vector<ProcessNote> notes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(kind + "-")) continue;
    std::error_code not_known;
    if (!entry.is_regular_file(not_known)) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string line(longest_note, '\0');
    in.read(line.data(), static_cast<std::streamsize>(line.size()));
    line.resize(static_cast<size_t>(in.gcount()));
    line = printable(valid_utf8(line.substr(0, line.find('\n'))));
    notes.push_back({valid_utf8(name.substr(kind.size() + 1)), line});
  }
  std::sort(notes.begin(), notes.end(),
            [](const auto& a, const auto& b) { return std::tie(a.pid, a.text) < std::tie(b.pid, b.text); });
  return notes;
}

}  // namespace

ProgramProcesses read_processes(const fs::path& directory) {
  ProgramProcesses processes;
  for (const torchmem_process_state& state : read_states(directory))
    processes.used.push_back({state, read_process_assumptions(directory, state.pid)});
  processes.hidden = read_notes(directory, "hidden");
  processes.cleared = read_notes(directory, "cleared");
  processes.compiles = read_notes(directory, "compiles");
  processes.ended = read_notes(directory, "ended");
  for (ProcessNote& note : processes.ended) {
    if (note.text.empty()) note.text = "it read too many assumed values";
  }
  return processes;
}

}  // namespace torchmem
