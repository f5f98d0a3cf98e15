// A run: everything known of one process's use of a device's memory, from our own engine or agent, or from a
// memory snapshot that PyTorch dumped. Sizes in bytes, addresses are device addresses, times in microseconds
// unless named.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "torchmem/error.h"
#include "torchmem/run_info.h"

namespace torchmem {

// What the allocator did; the names are the snapshot's own words.
enum class Action : uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
  oom,
  snapshot,
};

std::string_view name_of(Action action);
std::optional<Action> action_from(std::string_view name);

struct Frame {
  std::string filename;
  int64_t line = 0;
  std::string name;
  bool operator==(const Frame&) const = default;
};

constexpr int32_t no_frames = -1;

// Whose the bytes of a block are. The order is that of every table.
enum class Category : uint8_t {
  parameters,
  buffers,
  gradients,
  optimizer_state,
  inputs,
  activations,  // saved for backward
  outputs,
  temporaries,  // freed before the op that made it returned, or by its last consumer
  workspaces,   // cuBLAS, cuBLASLt, cuDNN
  other,        // what nobody is known to own
};
constexpr size_t category_count = 10;

std::string_view name_of(Category category);
std::optional<Category> category_from(std::string_view name);

// What a block was made for, where that is known. Parameters, buffers, gradients and inputs by the name that
// the model gives them; optimizer state as "exp_avg of layer1.0.weight"; workspaces by library.
struct TensorInfo {
  std::string name;
  std::string dtype;  // "f32", "" where unknown
  std::vector<int64_t> shape;
  bool operator==(const TensorInfo&) const = default;
};

constexpr int32_t no_tensor = -1;

// One line of the allocator's trace.
struct Event {
  Action action = Action::alloc;
  int32_t device = 0;
  // Index into Run::stacks, or no_frames.
  int32_t frames = no_frames;
  // For oom: the free bytes that the device had.
  uint64_t address = 0;
  // alloc, free_*: the bytes that PyTorch asked for. segment_*: the segment's. oom: the bytes asked for.
  uint64_t size = 0;
  // alloc: the size of the block that was handed out; 0 where the recorder did not say.
  uint64_t block_size = 0;
  uint64_t stream = 0;
  int64_t time_us = 0;
  // alloc: whose the block was, said of its whole life. Indices into Run::tensors and Run::stacks.
  Category category = Category::other;
  int32_t tensor = no_tensor;
  // activations: where the op was that saved the tensor for backward, which need not be where it was made.
  int32_t saved_by = no_frames;
};

struct Block {
  uint64_t address = 0;
  uint64_t size = 0;
  // Stale for an inactive block: what was asked for when it was last handed out.
  uint64_t requested_size = 0;
  enum class State : uint8_t { active_allocated, active_pending_free, inactive } state = State::inactive;
  int32_t frames = no_frames;
};

std::string_view name_of(Block::State state);

struct Segment {
  int32_t device = 0;
  uint64_t address = 0;
  uint64_t total_size = 0;
  uint64_t allocated_size = 0;
  uint64_t active_size = 0;
  uint64_t requested_size = 0;  // of active blocks
  uint64_t stream = 0;
  bool is_large = false;
  bool is_expandable = false;
  uint64_t pool_id[2] = {0, 0};
  int32_t frames = no_frames;
  std::vector<Block> blocks;  // by address, without holes
};

struct Usage {
  uint64_t current = 0;
  uint64_t peak = 0;
};

// The end of a phase. What was not measured is absent. Peaks are the phase's own: reset as it starts.
struct Phase {
  std::string name;
  std::optional<int64_t> iteration;  // from 0; absent for load
  std::optional<int64_t> micro;      // the accumulated micro-batch, from 0; absent without accumulation
  // Number of events of each device's trace that had happened (index = device; shorter = 0).
  std::vector<uint64_t> events;
  std::optional<Usage> allocated;
  std::optional<Usage> reserved;
  std::optional<Usage> active;
  std::optional<Usage> requested;
  std::optional<Usage> inactive_split;
  std::optional<uint64_t> device_bytes;  // reserved + context + modules at that moment
  std::optional<double> duration_ms;
  nlohmann::json statistics;  // torch.cuda.memory_stats, nested or flat; null when not recorded
};

// What the virtual GPU can have to assume.
enum class Assumption : uint8_t {
  assumed_value,        // read back, which only a kernel would have computed
  estimated_workspace,  // of a size that was not recorded
  unmodelled_call,      // answered with not-supported
  other,                // what only a newer recorder has a name for
};

std::string_view name_of(Assumption kind);
std::optional<Assumption> assumption_from(std::string_view name);  // never `other`

// What is known to have come of an assumed value.
enum class Decision : uint8_t { none, size, loop, branch };

std::string_view name_of(Decision decision);  // "" for none
std::optional<Decision> decision_from(std::string_view name);

// One thing that was assumed at one place, with how often it happened. Texts are "" where nothing was said.
struct AssumptionRecord {
  Assumption kind = Assumption::other;
  uint64_t count = 0;     // how many times
  uint64_t bytes = 0;     // that all of them together were about
  std::string name;       // the operator that read, "cudnn forward", the function that was called
  std::string op;         // that was running
  std::string module;     // that it was in
  std::string line;       // "m.py:9"
  std::string problem;    // of a workspace: what it was asked for; of a call: the library
  std::string taken_for;  // the value, the first time
  std::string what;       // of a copy in bulk: the tensors
  Decision decides = Decision::none;
  bool unknown = false;  // the workspace's size was taken as 0
  bool without = false;  // the workspace did not fit; another engine, taken to need none, stands in
  nlohmann::json rest = nlohmann::json::object();  // whatever else the recorder said
};

// Whether a size, a loop or a branch is known to have come of an assumed value: the run may then not be the
// one that a GPU makes.
bool is_deciding(const AssumptionRecord& assumption);
// The first such one; null where there is none.
const AssumptionRecord* first_deciding(const std::vector<AssumptionRecord>& assumptions);

// What the user can do about an error, where the engine knows it.
enum class Remedy : uint8_t { none, choose_method, choose_loss, give_library };
std::string_view name_of(Remedy remedy);  // "" for none
std::optional<Remedy> remedy_from(std::string_view name);

struct RunError {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::optional<std::string> phase;
  std::optional<int64_t> iteration;
  nlohmann::json detail;         // whatever else the recorder said: an object
  Remedy remedy = Remedy::none;  // not in the message yet (report/remedy.h)
};

struct Run {
  RunInfo info;
  std::vector<std::vector<Frame>> stacks;  // innermost frame first
  std::vector<TensorInfo> tensors;
  std::vector<std::vector<Event>> traces;  // one a device, in order
  std::vector<Phase> phases;
  std::vector<AssumptionRecord> assumptions;
  std::vector<Segment> segments;  // at the end, by address
  // False when the process ended before it could say (then `segments` is empty).
  bool has_segments = false;
  std::optional<RunError> error;
  // The snapshot's own two other parts, as they were.
  nlohmann::json allocator_settings = nlohmann::json::object();
  nlohmann::json external_annotations = nlohmann::json::array();
  // True when made by torchmem: phases and fidelity mean something.
  bool is_ours = false;

  // The device whose memory the run is about: the only one with a trace or segments, else info's device
  // index, else 0.
  int32_t main_device() const;
  // Those that have segments or a trace.
  std::set<int32_t> devices() const;
};

}  // namespace torchmem
