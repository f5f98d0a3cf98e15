#include <spdlog/fmt/fmt.h>

#include <system_error>
#include <unordered_map>

#include "run/assumption_json.h"
#include "run/file.h"
#include "run/phase_json.h"
#include "run/pickle_json.h"
#include "run/pickle_reader.h"
#include "run/run_file_format.h"
#include "run/run_info_json.h"
#include "run/utf8.h"
#include "torchmem/run_file.h"

namespace torchmem {

using nlohmann::json;
using Kind = PickleValue::Kind;

namespace {

class RunReader {
 public:
  Run read(const PickleValue& root) {
    if (!root.is_dict() || !root.find("segments")) {
      throw PickleError("it is a pickle, but not a memory snapshot: there is no 'segments' in it");
    }
    for (const PickleValue& segment : list_of(root, "segments"))
      run_.segments.push_back(read_segment(segment));
    run_.has_segments = true;
    if (root.find("device_traces")) {
      for (const PickleValue& trace : list_of(root, "device_traces")) read_trace(trace);
    }
    if (const PickleValue* settings = root.find("allocator_settings"))
      run_.allocator_settings = json_from(*settings);
    if (const PickleValue* notes = root.find("external_annotations"))
      run_.external_annotations = json_from(*notes);
    if (const PickleValue* ours = root.find(run_file::key)) read_ours(*ours);
    return std::move(run_);
  }

 private:
  static const PickleValue& field(const PickleValue& dict, const char* name) {
    const PickleValue* value = dict.find(name);
    if (!value) throw PickleError(fmt::format("'{}' is missing", name));
    return *value;
  }

  static const std::vector<PickleValue>& list_of(const PickleValue& dict, const char* name) {
    const PickleValue& value = field(dict, name);
    if (!value.is_sequence()) throw PickleError(fmt::format("'{}' is not a list", name));
    return value.items();
  }

  static uint64_t unsigned_from(const PickleValue& value, const char* name) {
    if (value.kind() == Kind::integer) return static_cast<uint64_t>(value.integer());
    if (value.kind() == Kind::unsigned_integer) return value.unsigned_integer();
    throw PickleError(fmt::format("'{}' is not a whole number", name));
  }

  static uint64_t number(const PickleValue& dict, const char* name) {
    return unsigned_from(field(dict, name), name);
  }

  static uint64_t number_or(const PickleValue& dict, const char* name, uint64_t otherwise) {
    const PickleValue* value = dict.find(name);
    return value && value->kind() != Kind::none ? unsigned_from(*value, name) : otherwise;
  }

  static std::string_view text(const PickleValue& dict, const char* name) {
    const PickleValue& value = field(dict, name);
    if (!value.is_string()) throw PickleError(fmt::format("'{}' is not a text", name));
    return value.string();
  }

  // The stack of an event, block or segment, the same index for the same frames.
  int32_t stack_of(const PickleValue& owner) {
    const PickleValue* frames = owner.find("frames");
    return frames ? stack_from(*frames) : no_frames;
  }

  int32_t stack_from(const PickleValue& frames) {
    if (!frames.is_sequence() || frames.items().empty()) return no_frames;
    auto [known, is_new] = stack_of_list_.try_emplace(frames.container(), no_frames);
    if (!is_new) return known->second;
    std::string key;
    std::vector<Frame> stack;
    for (const PickleValue& item : frames.items()) {
      if (!item.is_dict()) throw PickleError("a frame is not a dict");
      Frame frame{valid_utf8(text(item, "filename")), static_cast<int64_t>(number(item, "line")),
                  valid_utf8(text(item, "name"))};
      key += frame.filename + '\n' + std::to_string(frame.line) + '\n' + frame.name + '\n';
      stack.push_back(std::move(frame));
    }
    auto [same, is_first] =
        stack_of_frames_.try_emplace(std::move(key), static_cast<int32_t>(run_.stacks.size()));
    if (is_first) run_.stacks.push_back(std::move(stack));
    known->second = same->second;
    return known->second;
  }

  Segment read_segment(const PickleValue& value) {
    Segment segment;
    segment.device = static_cast<int32_t>(number_or(value, "device", 0));
    segment.address = number(value, "address");
    segment.total_size = number(value, "total_size");
    segment.allocated_size = number_or(value, "allocated_size", 0);
    segment.active_size = number_or(value, "active_size", 0);
    segment.requested_size = number_or(value, "requested_size", 0);
    segment.stream = number_or(value, "stream", 0);
    segment.is_large = !value.find("segment_type") || text(value, "segment_type") == "large";
    const PickleValue* expandable = value.find("is_expandable");
    segment.is_expandable = expandable && expandable->kind() == Kind::boolean && expandable->boolean();
    if (const PickleValue* id = value.find("segment_pool_id"); id && id->items().size() == 2) {
      for (size_t i = 0; i < 2; ++i) segment.pool_id[i] = unsigned_from(id->items()[i], "segment_pool_id");
    }
    segment.frames = stack_of(value);
    uint64_t address = segment.address;
    for (const PickleValue& item : list_of(value, "blocks")) {
      Block block;
      block.size = number(item, "size");
      block.address = number_or(item, "address", address);  // old snapshots give sizes only
      block.requested_size = number_or(item, "requested_size", block.size);
      std::string_view state = text(item, "state");
      block.state = state == "active_allocated" ? Block::State::active_allocated
                    : state == "inactive"       ? Block::State::inactive
                                                : Block::State::active_pending_free;
      block.frames = stack_of(item);
      address = block.address + block.size;
      segment.blocks.push_back(block);
    }
    return segment;
  }

  void read_trace(const PickleValue& value) {
    if (!value.is_sequence()) throw PickleError("a device's trace is not a list");
    auto device = static_cast<int32_t>(run_.traces.size());
    std::vector<Event> trace;
    trace.reserve(value.items().size());
    for (const PickleValue& item : value.items()) {
      Event event;
      std::string_view name = text(item, "action");
      std::optional<Action> action = action_from(name);
      if (!action) continue;  // e.g. user-defined marks: nothing that the allocator did
      event.action = *action;
      event.device = device;
      event.address =
          event.action == Action::oom ? number_or(item, "device_free", 0) : number_or(item, "addr", 0);
      event.size = number(item, "size");
      event.stream = number_or(item, "stream", 0);
      event.time_us = static_cast<int64_t>(number_or(item, "time_us", 0));
      event.frames = stack_of(item);
      if (event.action == Action::alloc) event.category = category_of(item);
      trace.push_back(event);
    }
    run_.traces.push_back(std::move(trace));
  }

  // Other tools put words of their own there.
  static Category category_of(const PickleValue& event) {
    const PickleValue* word = event.find("category");
    if (!word || !word->is_string()) return Category::other;
    return category_from(word->string()).value_or(Category::other);
  }

  void read_ours(const PickleValue& value) {
    std::string_view schema = text(value, "schema");
    if (schema != run_file::schema) {
      throw PickleError(
          fmt::format("its torchmem part is '{}', this torchmem reads '{}': use the torchmem that "
                      "wrote it, or a newer one",
                      schema, run_file::schema));
    }
    run_.is_ours = true;
    const PickleValue* has_segments = value.find("has_segments");
    run_.has_segments = !has_segments || has_segments->kind() != Kind::boolean || has_segments->boolean();
    run_.info = info_from_json(json_from(field(value, "facts")));
    for (const json& object : json_from(field(value, "phases"))) {
      Phase phase = phase_from_json(object);
      phase.events = object.value("events", std::vector<uint64_t>());
      run_.phases.push_back(std::move(phase));
    }
    json assumptions = json_from(field(value, "findings"));
    for (json& object : assumptions)
      add_assumption(run_.assumptions, assumption_from_json(std::move(object)));
    if (const json error = json_from(field(value, "error")); !error.is_null())
      run_.error = error_from_json(error);
    if (value.find("tensors")) {
      for (const PickleValue& tensor : list_of(value, "tensors"))
        run_.tensors.push_back(tensor_from_json(json_from(tensor)));
    }
    of_allocations(value, "block_sizes", [](Event& event, const PickleValue& size) {
      event.block_size = unsigned_from(size, "block_sizes");
    });
    of_allocations(value, "block_tensors", [&](Event& event, const PickleValue& number) {
      uint64_t tensor = unsigned_from(number, "block_tensors");
      if (tensor > run_.tensors.size())
        throw PickleError("'block_tensors' names a tensor that is not in 'tensors'");
      event.tensor = static_cast<int32_t>(tensor) - 1;
    });
    of_allocations(value, "saved_by",
                   [&](Event& event, const PickleValue& frames) { event.saved_by = stack_from(frames); });
  }

  // Calls set(event, value) for each device's alloc events, in order, and the values of that name; files of
  // older makers may lack some.
  template <class Set>
  void of_allocations(const PickleValue& ours, const char* name, Set set) {
    if (!ours.find(name)) return;
    const std::vector<PickleValue>& devices = list_of(ours, name);
    for (size_t device = 0; device < devices.size() && device < run_.traces.size(); ++device) {
      const std::vector<PickleValue>& values = devices[device].items();
      size_t next = 0;
      for (Event& event : run_.traces[device]) {
        if (event.action != Action::alloc) continue;
        if (next == values.size()) break;
        set(event, values[next++]);
      }
    }
  }

  Run run_;
  std::unordered_map<const PickleContainer*, int32_t> stack_of_list_;
  std::unordered_map<std::string, int32_t> stack_of_frames_;
};

}  // namespace

Run read_run(std::string_view pickle, const std::string& name) {
  try {
    return RunReader().read(Pickle(pickle).root());
  } catch (const PickleError& error) {
    throw Error(ErrorKind::bad_input,
                fmt::format("cannot read {} as a memory snapshot: {}.\nExpected a run file of torchmem or a "
                            "snapshot that PyTorch's torch.cuda.memory._dump_snapshot wrote.",
                            name, error.what()));
  } catch (const json::exception& error) {
    throw Error(ErrorKind::bad_input, fmt::format("cannot read {} as a run file: {}", name, error.what()));
  }
}

Run read_run_file(const std::filesystem::path& path) {
  try {
    MappedFile file(path);
    return read_run(file.text(), path.string());
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::bad_input, std::string("cannot ") + error.what());
  }
}

}  // namespace torchmem
