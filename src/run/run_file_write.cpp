#include <algorithm>
#include <optional>
#include <unordered_map>

#include "run/assumption_json.h"
#include "run/phase_json.h"
#include "run/pickle_json.h"
#include "run/pickle_writer.h"
#include "run/run_file_format.h"
#include "run/run_info_json.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

class RunWriter {
 public:
  explicit RunWriter(const Run& run) : run_(run), has_categories_(run.is_ours || says_categories(run)) {}

  std::string write() {
    out_.begin_dict();
    out_.string("segments");
    out_.begin_list();
    for (const Segment& segment : run_.segments) write_segment(segment);
    out_.end_list();
    out_.string("device_traces");
    out_.begin_list();
    for (const auto& trace : run_.traces) write_trace(trace);
    out_.end_list();
    out_.string("allocator_settings");
    write_json(out_, run_.allocator_settings);
    out_.string("external_annotations");
    write_json(out_, run_.external_annotations);
    if (run_.is_ours) {
      out_.string(run_file::key);
      write_ours();
    }
    out_.end_dict();
    return out_.finish();
  }

 private:
  void number(std::string_view name, uint64_t value) {
    out_.string(name);
    out_.unsigned_integer(value);
  }

  void text(std::string_view name, std::string_view value) {
    out_.string(name);
    out_.string(value);
  }

  void frames(int32_t stack) {
    out_.string("frames");
    frames_list(stack);
  }

  void frames_list(int32_t stack) {
    auto known = stack_keys_.find(stack);
    if (known != stack_keys_.end()) return out_.get(known->second);
    out_.begin_list();
    if (stack != no_frames) {
      for (const Frame& frame : run_.stacks[static_cast<size_t>(stack)]) {
        out_.begin_dict();
        text("name", frame.name);
        text("filename", frame.filename);
        out_.string("line");
        out_.integer(frame.line);
        out_.end_dict();
      }
    }
    out_.end_list();
    stack_keys_.emplace(stack, out_.put());
  }

  void write_segment(const Segment& segment) {
    out_.begin_dict();
    number("device", static_cast<uint64_t>(segment.device));
    number("address", segment.address);
    number("total_size", segment.total_size);
    number("allocated_size", segment.allocated_size);
    number("active_size", segment.active_size);
    number("requested_size", segment.requested_size);
    number("stream", segment.stream);
    text("segment_type", segment.is_large ? "large" : "small");
    out_.string("segment_pool_id");
    out_.pair(segment.pool_id[0], segment.pool_id[1]);
    out_.string("is_expandable");
    out_.boolean(segment.is_expandable);
    frames(segment.frames);
    out_.string("blocks");
    out_.begin_list();
    for (const Block& block : segment.blocks) {
      out_.begin_dict();
      number("address", block.address);
      number("size", block.size);
      number("requested_size", block.requested_size);
      text("state", name_of(block.state));
      frames(block.frames);
      out_.end_dict();
    }
    out_.end_list();
    out_.end_dict();
  }

  // A snapshot of PyTorch's may carry our categories, of a run file that lost our key.
  static bool says_categories(const Run& run) {
    auto says = [](const Event& event) { return event.category != Category::other; };
    return std::any_of(run.traces.begin(), run.traces.end(), [&](const std::vector<Event>& trace) {
      return std::any_of(trace.begin(), trace.end(), says);
    });
  }

  void write_trace(const std::vector<Event>& trace) {
    std::unordered_map<uint64_t, Category> alive;  // by address; frees carry their block's category
    out_.begin_list();
    for (const Event& event : trace) {
      std::optional<Category> category;
      if (event.action == Action::alloc) {
        alive[event.address] = event.category;
        category = event.category;
      } else if (event.action == Action::free_requested || event.action == Action::free_completed) {
        auto block = alive.find(event.address);
        category = block == alive.end() ? Category::other : block->second;
      }
      write_event(event, has_categories_ ? category : std::nullopt);
    }
    out_.end_list();
  }

  void write_event(const Event& event, std::optional<Category> category) {
    out_.begin_dict();
    text("action", name_of(event.action));
    number(event.action == Action::oom ? "device_free" : "addr", event.address);
    number("size", event.size);
    number("stream", event.stream);
    out_.string("time_us");
    out_.integer(event.time_us);
    text("compile_context", "N/A");
    text("user_metadata", "");
    if (category) text("category", name_of(*category));
    frames(event.frames);
    out_.end_dict();
  }

  // One value for each alloc event, device by device.
  template <class Write>
  void of_allocations(std::string_view name, Write write) {
    out_.string(name);
    out_.begin_list();
    for (const auto& trace : run_.traces) {
      out_.begin_list();
      for (const Event& event : trace) {
        if (event.action == Action::alloc) write(event);
      }
      out_.end_list();
    }
    out_.end_list();
  }

  void write_ours() {
    json phases = json::array();
    for (const Phase& phase : run_.phases) {
      json object = phase_to_json(phase);
      object["events"] = phase.events;
      if (!phase.statistics.is_null()) object["statistics"] = phase.statistics;
      phases.push_back(std::move(object));
    }
    json assumptions = json::array();
    for (const AssumptionRecord& assumption : run_.assumptions) {
      json object = assumption_to_json(assumption);
      object.emplace("kind", name_of(assumption.kind));  // one that we have no name for is in the rest
      assumptions.push_back(std::move(object));
    }
    out_.begin_dict();
    text("schema", run_file::schema);
    out_.string("facts");
    write_json(out_, info_json(run_.info));
    out_.string("phases");
    write_json(out_, phases);
    out_.string("findings");
    write_json(out_, assumptions);
    out_.string("error");
    write_json(out_, run_.error ? error_to_json(*run_.error) : json());
    out_.string("has_segments");
    out_.boolean(run_.has_segments);
    out_.string("tensors");
    json tensors = json::array();
    for (const TensorInfo& tensor : run_.tensors) tensors.push_back(tensor_to_json(tensor));
    write_json(out_, tensors);
    of_allocations("block_sizes", [&](const Event& event) { out_.unsigned_integer(event.block_size); });
    // From 1; 0 for none, which takes less room than a number below 0.
    of_allocations("block_tensors", [&](const Event& event) {
      out_.unsigned_integer(static_cast<uint64_t>(int64_t{event.tensor} + 1));
    });
    of_allocations("saved_by", [&](const Event& event) { frames_list(event.saved_by); });
    out_.end_dict();
  }

  const Run& run_;
  const bool has_categories_;
  PickleWriter out_;
  std::unordered_map<int32_t, uint32_t> stack_keys_;
};

}  // namespace

std::string write_run(const Run& run) { return RunWriter(run).write(); }

}  // namespace torchmem
