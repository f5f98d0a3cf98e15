#include "report/process_report.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "report/accuracy.h"
#include "report/document.h"
#include "report/style.h"
#include "report/text.h"
#include "run/assumption_json.h"
#include "run/utf8.h"
#include "text/words.h"
#include "torchmem/bytes.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr size_t longest_command = 200;
constexpr size_t shown_reads = 5;
constexpr size_t shown_calls = 5;

std::string name_of(const torchmem_process_state& state) {
  return shorten(valid_utf8(state.command), longest_command) + " (pid " + std::to_string(state.pid) + ")";
}

std::string device_text(const torchmem_device_state& device) {
  std::string text = "peak allocated " + bytes_exactly(device.peak_allocated) + ", peak reserved " +
                     bytes_exactly(device.peak_reserved);
  if (device.out_of_memory) text += ", " + counted(device.out_of_memory, "out-of-memory error");
  return text;
}

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
  for (const CountedAssumption& assumption : counted_assumptions()) {
    uint64_t count = state.*assumption.count;
    if (count == 0) continue;
    std::string word(name_of(assumption.kind));
    std::replace(word.begin(), word.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + counted(count, word);
    if (assumption.kind == Assumption::unmodelled_call && !calls.empty()) text += ": " + calls;
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

std::string process_text(const ProgramProcess& process) {
  const torchmem_process_state& state = process.state;
  const auto assumptions = process.assumptions.value_or(std::vector<AssumptionRecord>());
  const std::string calls = call_names(assumptions);
  const std::string assumed = assumed_text(state, calls);
  return "torchmem: " + name_of(state) + ": " + use_text(state) +
         (assumed.empty() ? "" : " [" + assumed + "]") + "\n" + outside_text(state) + calls_text(calls) +
         reads_text(assumptions);
}

// Of processes that CUDA_VISIBLE_DEVICES leaves no device; one for each of its values.
std::string hidden_text(const std::vector<ProcessNote>& notes) {
  std::string text;
  std::vector<std::string> said;
  for (const auto& [pid, value] : notes) {
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

json processes_json(const ProgramProcesses& processes) {
  json result = json::array();
  for (const auto& [state, assumptions] : processes.used) {
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
    for (const CountedAssumption& assumption : counted_assumptions())
      result.back()[std::string(name_of(assumption.kind)) + "s"] = state.*assumption.count;
    if (assumptions) result.back()["fidelity"] = assumptions_json(*assumptions);
  }
  return result;
}

std::string processes_text(const ProgramProcesses& processes, bool is_virtual) {
  std::string text;
  for (const ProgramProcess& process : processes.used) text += process_text(process);
  text += hidden_text(processes.hidden);
  if (text.empty()) {
    // On a real device only what allocates is seen.
    text = is_virtual ? "torchmem: the program never used CUDA\n"
                      : "torchmem: the program allocated nothing on a CUDA device\n";
  }
  for (const auto& [pid, program] : processes.cleared) {
    text += "torchmem: " + shorten(program, longest_command) + " (pid " + pid +
            ") was started with LD_PRELOAD cleared: it was not on the virtual GPU and is not counted\n";
  }
  for (const auto& [pid, note] : processes.compiles) {
    text += "torchmem: pid " + pid +
            " compiles (torch.compile), and the virtual GPU cannot run what is compiled for a device; run "
            "the program without compilation\n";
  }
  for (const auto& [pid, reason] : processes.ended)
    text += "torchmem: pid " + pid + " was ended: " + reason + "\n";
  return text;
}

std::string more_text(const ProgramProcesses& processes, bool without_json, bool without_save) {
  bool assumed = false;
  bool measured = false;
  for (const torchmem_process_state& state : processes.states()) {
    for (const CountedAssumption& assumption : counted_assumptions()) assumed |= state.*assumption.count != 0;
    for (const torchmem_device_state& device : state.devices)
      measured |= state.agent_loaded && device.used && device.peak_allocated > 0;
  }
  std::vector<std::string> ways;
  if (without_json && assumed) ways.push_back("--json lists every assumption with its operator and line");
  if (without_save && measured) ways.push_back("--save RUN.pickle records whose the memory was");
  return ways.empty() ? "" : "torchmem: " + joined(ways, "; ") + "\n";
}

namespace {

Document processes_document(const ProgramProcesses& processes, bool is_virtual) {
  Table table({{.title = "process", .kind = TableColumn::Kind::name},
               {.title = "device"},
               {.title = "peak allocated"},
               {.title = "peak reserved"},
               {.title = "out of memory"}});
  for (const torchmem_process_state& state : processes.states()) {
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
  std::istringstream text(processes_text(processes, is_virtual));
  for (std::string line; std::getline(text, line);) lines.push_back(line.substr(line.find(": ") + 2));
  document.add_list(lines);
  return document;
}

}  // namespace

std::string processes_markdown(const ProgramProcesses& processes, bool is_virtual) {
  return processes_document(processes, is_virtual).markdown();
}

std::string processes_html(const ProgramProcesses& processes, bool is_virtual) {
  return processes_document(processes, is_virtual).html();
}

}  // namespace torchmem
