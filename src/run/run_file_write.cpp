#include <unordered_map>

#include "run/phase_json.h"
#include "run/pickle_json.h"
#include "run/pickle_writer.h"
#include "run/run_file_format.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;

namespace {

class RunWriter {
 public:
  explicit RunWriter(const Run& run) : run_(run) {}

  std::string write() {
    out_.begin_dict();
    out_.string("segments");
    out_.begin_list();
    for (const Segment& segment : run_.segments) write_segment(segment);
    out_.end_list();
    out_.string("device_traces");
    out_.begin_list();
    for (const auto& trace : run_.traces) {
      out_.begin_list();
      for (const Event& event : trace) write_event(event);
      out_.end_list();
    }
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

  void write_event(const Event& event) {
    out_.begin_dict();
    text("action", name_of(event.action));
    number(event.action == Action::oom ? "device_free" : "addr", event.address);
    number("size", event.size);
    number("stream", event.stream);
    out_.string("time_us");
    out_.integer(event.time_us);
    text("compile_context", "N/A");
    text("user_metadata", "");
    frames(event.frames);
    out_.end_dict();
  }

  void write_ours() {
    json phases = json::array();
    for (const Phase& phase : run_.phases) {
      json object = phase_to_json(phase);
      object["events"] = phase.events;
      if (!phase.statistics.is_null()) object["statistics"] = phase.statistics;
      phases.push_back(std::move(object));
    }
    json findings = json::array();
    for (const Finding& finding : run_.findings) {
      json object = finding_to_json(finding);
      object["kind"] = finding.kind;
      findings.push_back(std::move(object));
    }
    out_.begin_dict();
    text("schema", run_file::schema);
    out_.string("facts");
    write_json(out_, run_.facts);
    out_.string("phases");
    write_json(out_, phases);
    out_.string("findings");
    write_json(out_, findings);
    out_.string("error");
    write_json(out_, run_.error ? error_to_json(*run_.error) : json());
    out_.string("has_segments");
    out_.boolean(run_.has_segments);
    out_.string("block_sizes");
    out_.begin_list();
    for (const auto& trace : run_.traces) {
      out_.begin_list();
      for (const Event& event : trace) {
        if (event.action == Action::alloc) out_.unsigned_integer(event.block_size);
      }
      out_.end_list();
    }
    out_.end_list();
    out_.end_dict();
  }

  const Run& run_;
  PickleWriter out_;
  std::unordered_map<int32_t, uint32_t> stack_keys_;
};

}  // namespace

std::string write_run(const Run& run) { return RunWriter(run).write(); }

}  // namespace torchmem
