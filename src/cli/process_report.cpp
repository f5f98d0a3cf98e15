#include "cli/process_report.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "launch/process_assumptions.h"
#include "launch/process_states.h"
#include "report/accuracy.h"
#include "report/document.h"
#include "report/style.h"
#include "report/text.h"
#include "run/assumption_json.h"
#include "run/utf8.h"
#include "torchmem/bytes.h"

namespace torchmem {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr size_t longest_command = 200;
constexpr size_t longest_note = 4096;
constexpr size_t shown_reads = 5;
constexpr size_t shown_calls = 5;

// Of the notes `<kind>-<pid>`: pid and text.
std::vector<std::pair<std::string, std::string>> read_notes(const fs::path& directory,
                                                            const std::string& kind) {
  std::vector<std::pair<std::string, std::string>> notes;
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
    notes.emplace_back(valid_utf8(name.substr(kind.size() + 1)), line);
  }
  std::sort(notes.begin(), notes.end());
  return notes;
}

std::string name_of(const torchmem_process_state& state) {
  return shorten(valid_utf8(state.command), longest_command) + " (pid " + std::to_string(state.pid) + ")";
}

std::string device_text(const torchmem_device_state& device) {
  std::string text = "peak allocated " + bytes_exactly(device.peak_allocated) + ", peak reserved " +
                     bytes_exactly(device.peak_reserved);
  if (device.out_of_memory) text += ", " + counted(device.out_of_memory, "out-of-memory error");
  return text;
}

// What a process counts, whether or not an agent tells more of it.
struct CountedKind {
  Assumption assumption;
  const char* word;
  uint64_t torchmem_process_state::*count;
};

constexpr CountedKind counted_kinds[] = {
    {Assumption::assumed_value, "assumed value", &torchmem_process_state::assumed_values},
    {Assumption::estimated_workspace, "estimated workspace", &torchmem_process_state::estimated_workspaces},
    {Assumption::unmodelled_call, "unmodelled call", &torchmem_process_state::unmodelled_calls},
};

// "cudaIpcGetMemHandle, cudaFoo and 3 more": the calls that are not modelled, each once; "" where nobody
// told.
std::string call_names(const std::vector<AssumptionRecord>& assumptions) {
  std::vector<std::string> names;
  for (const AssumptionRecord* call : of_kind(assumptions, Assumption::unmodelled_call)) {
    std::string name = printable(call->name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), shown_calls); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > shown_calls) text += " and " + format_count(names.size() - shown_calls) + " more";
  return text;
}

std::string assumed_text(const torchmem_process_state& state, const std::string& calls) {
  std::string text;
  for (const CountedKind& kind : counted_kinds) {
    uint64_t count = state.*kind.count;
    if (count == 0) continue;
    text += (text.empty() ? "" : ", ") + counted(count, kind.word);
    if (kind.count == &torchmem_process_state::unmodelled_calls && !calls.empty()) text += ": " + calls;
  }
  return text;
}

// What PyTorch's allocator did in a process, or why nothing is known of it.
std::string use_text(const torchmem_process_state& state) {
  if (state.no_room)
    return "its memory was not measured: there was no room for its numbers (set TMPDIR to use another place)";
  if (!state.device_used) return "it could not use the device";
  if (!is_measured(state))
    return "it used the device, but not PyTorch's allocator as this build knows it: its peaks are not "
           "measured";
  std::string text;
  const auto used = std::count_if(std::begin(state.devices), std::end(state.devices),
                                  [](const torchmem_device_state& device) { return device.used != 0; });
  for (size_t i = 0; i < TORCHMEM_PROCESS_STATE_DEVICES; ++i) {
    const torchmem_device_state& device = state.devices[i];
    if (!device.used) continue;
    // The number only where it says something.
    if (used > 1 || i > 0) text += (text.empty() ? "cuda:" : "; cuda:") + std::to_string(i) + " ";
    text += device_text(device);
  }
  if (!text.empty()) return text;
  if (state.allocated) return "it used the device, but nothing of PyTorch's caching allocator";
  if (state.peak_pinned)
    return "it pinned " + bytes_exactly(state.peak_pinned) +
           " of host memory, and allocated nothing on the device";
  return "it used the device, but allocated nothing";
}

// What the program, or a library of its, took of each device by itself.
std::string outside_text(const torchmem_process_state& state) {
  std::string text;
  for (size_t i = 0; i < TORCHMEM_PROCESS_STATE_DEVICES; ++i) {
    if (uint64_t bytes = outside_of(state.devices[i]))
      text += "torchmem:   outside PyTorch's allocator: peak " + bytes_exactly(bytes) + " by cudaMalloc" +
              (i > 0 ? " on cuda:" + std::to_string(i) : "") + "\n";
  }
  return text;
}

std::string calls_text(const std::string& calls) {
  if (calls.empty()) return "";
  return "torchmem:   not modelled by the virtual GPU, and answered with \"not supported\": " + calls +
         ". Run the program without what calls it, or on a real GPU.\n";
}

// The first few reads of assumed values, a line each.
std::string reads_text(const std::vector<AssumptionRecord>& assumptions) {
  const std::vector<const AssumptionRecord*> reads = of_kind(assumptions, Assumption::assumed_value);
  std::string text;
  for (size_t i = 0; i < std::min(reads.size(), shown_reads); ++i)
    text += "torchmem:   assumed: " + assumed_line(*reads[i]) + "\n";
  if (reads.size() > shown_reads)
    text += "torchmem:   and " + format_count(reads.size() - shown_reads) + " more (--json lists all)\n";
  return text;
}

std::string process_text(const fs::path& directory, const torchmem_process_state& state) {
  const auto assumptions =
      read_process_assumptions(directory, state.pid).value_or(std::vector<AssumptionRecord>());
  const std::string calls = call_names(assumptions);
  const std::string assumed = assumed_text(state, calls);
  return "torchmem: " + name_of(state) + ": " + use_text(state) +
         (assumed.empty() ? "" : " [" + assumed + "]") + "\n" + outside_text(state) + calls_text(calls) +
         reads_text(assumptions);
}

// Of processes that CUDA_VISIBLE_DEVICES leaves no device; one for each of its values.
std::string hidden_text(const fs::path& directory) {
  std::string text;
  std::vector<std::string> said;
  for (const auto& [pid, value] : read_notes(directory, "hidden")) {
    if (std::find(said.begin(), said.end(), value) != said.end()) continue;
    said.push_back(value);
    text +=
        "torchmem: pid " + pid + " asked for a device, but CUDA_VISIBLE_DEVICES is \"" + value +
        "\", which leaves it none of the virtual machine's: unset it, or give more devices with --devices "
        "(their numbers count from 0)\n";
  }
  return text;
}

json device_json(const torchmem_device_state& device, size_t index, bool is_measured) {
  json result = {{"device", index}};
  if (is_measured) {
    result.update({{"peak_allocated_bytes", device.peak_allocated},
                   {"peak_reserved_bytes", device.peak_reserved},
                   {"allocated_bytes", device.allocated},
                   {"reserved_bytes", device.reserved},
                   {"out_of_memory", device.out_of_memory}});
  }
  if (uint64_t bytes = outside_of(device)) result["peak_outside_bytes"] = bytes;
  return result;
}

}  // namespace

json processes_json(const fs::path& directory) {
  json result = json::array();
  for (const torchmem_process_state& state : process_states(directory)) {
    json devices = json::array();
    for (size_t i = 0; i < TORCHMEM_PROCESS_STATE_DEVICES; ++i) {
      const torchmem_device_state& device = state.devices[i];
      if (device.used || outside_of(device)) devices.push_back(device_json(device, i, state.agent_loaded));
    }
    result.push_back({{"pid", state.pid},
                      {"parent_pid", state.parent_pid},
                      {"command", valid_utf8(state.command)},
                      {"measured", is_measured(state)},
                      {"devices", std::move(devices)}});
    if (state.peak_pinned) result.back()["peak_pinned_bytes"] = state.peak_pinned;
    for (const CountedKind& kind : counted_kinds)
      result.back()[std::string(name_of(kind.assumption)) + "s"] = state.*kind.count;
    if (const auto assumptions = read_process_assumptions(directory, state.pid))
      result.back()["fidelity"] = assumptions_json(*assumptions);
  }
  return result;
}

std::string processes_text(const fs::path& directory, bool is_virtual) {
  std::string text;
  for (const torchmem_process_state& state : process_states(directory))
    text += process_text(directory, state);
  text += hidden_text(directory);
  if (text.empty()) {
    // On a real device only what allocates is seen.
    text = is_virtual ? "torchmem: the program never used CUDA\n"
                      : "torchmem: the program allocated nothing on a CUDA device\n";
  }
  for (const auto& [pid, program] : read_notes(directory, "cleared")) {
    text += "torchmem: " + shorten(program, longest_command) + " (pid " + pid +
            ") was started with LD_PRELOAD cleared: it was not on the virtual GPU and is not counted\n";
  }
  for (const auto& [pid, note] : read_notes(directory, "compiles")) {
    text += "torchmem: pid " + pid +
            " compiles (torch.compile), and the virtual GPU cannot run what is compiled for a device; run "
            "the program without compilation\n";
  }
  for (const EndedProcess& ended : ended_processes(directory))
    text += "torchmem: pid " + ended.pid + " was ended: " + ended.reason + "\n";
  return text;
}

namespace {

Document processes_document(const fs::path& directory, bool is_virtual) {
  Table table({{.title = "process", .kind = TableColumn::Kind::name},
               {.title = "device"},
               {.title = "peak allocated"},
               {.title = "peak reserved"},
               {.title = "out of memory"}});
  for (const torchmem_process_state& state : process_states(directory)) {
    for (size_t i = 0; i < TORCHMEM_PROCESS_STATE_DEVICES; ++i) {
      const torchmem_device_state& device = state.devices[i];
      if (!device.used) continue;
      table.add({name_of(state), "cuda:" + std::to_string(i), bytes_cell(device.peak_allocated),
                 bytes_cell(device.peak_reserved), format_count(device.out_of_memory)});
    }
  }
  Document document("The program's processes");
  document.add_heading("Memory by process");
  document.add_table(table);
  std::vector<std::string> lines;
  std::istringstream text(processes_text(directory, is_virtual));
  for (std::string line; std::getline(text, line);) lines.push_back(line.substr(line.find(": ") + 2));
  document.add_list(lines);
  return document;
}

}  // namespace

std::string processes_markdown(const fs::path& directory, bool is_virtual) {
  return processes_document(directory, is_virtual).markdown();
}

std::string processes_html(const fs::path& directory, bool is_virtual) {
  return processes_document(directory, is_virtual).html();
}

std::vector<AssumptionRecord> program_assumptions(const fs::path& directory) {
  std::vector<AssumptionRecord> all;
  for (const torchmem_process_state& state : process_states(directory)) {
    const std::string command = valid_utf8(state.command);
    auto told = read_process_assumptions(directory, state.pid).value_or(std::vector<AssumptionRecord>());
    for (const CountedKind& kind : counted_kinds) {
      uint64_t count = 0;
      for (const auto& assumption : told) count += assumption.kind == kind.assumption ? assumption.count : 0;
      if (state.*kind.count <= count) continue;
      AssumptionRecord& untold = told.emplace_back();
      untold.kind = kind.assumption;
      untold.count = state.*kind.count - count;
      untold.name = command;
    }
    for (AssumptionRecord& assumption : told) {
      assumption.rest["process"] = command;
      add_assumption(all, std::move(assumption));
    }
  }
  return all;
}

std::vector<EndedProcess> ended_processes(const fs::path& directory) {
  std::vector<EndedProcess> ended;
  for (auto& [pid, reason] : read_notes(directory, "ended"))
    ended.push_back({pid, reason.empty() ? "it read too many assumed values" : reason});
  return ended;
}

}  // namespace torchmem
