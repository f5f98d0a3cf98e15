// One device of a run as the HTML report carries it.

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "report/columns.h"
#include "report/html_data.h"
#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"
#include "torchmem/growth.h"
#include "torchmem/owner.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr uint64_t largest_unit = 1 << 20;

// The largest power of two that divides everything added: addresses and sizes are told in it.
class Unit {
 public:
  void add(uint64_t value) { bits_ |= value; }
  uint64_t bytes() const {
    return bits_ == 0 ? 1 : std::min(largest_unit, uint64_t{1} << std::countr_zero(bits_));
  }

 private:
  uint64_t bits_ = 0;
};

// Texts by number, the empty one 0.
class Texts {
 public:
  uint64_t number_of(const std::string& text) {
    auto [found, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, uint64_t> numbers_ = {{"", 0}};
};

// Stacks as paths in a tree, since most begin with the same outer frames. Node 0 is no stack.
class Stacks {
 public:
  explicit Stacks(const Run& run) : run_(run), node_of_stack_(run.stacks.size()) {}

  uint64_t node_of(int32_t stack) {
    if (stack < 0 || static_cast<size_t>(stack) >= run_.stacks.size()) return 0;
    std::optional<uint64_t>& known = node_of_stack_[static_cast<size_t>(stack)];
    if (known) return *known;
    const std::vector<Frame>& frames = run_.stacks[static_cast<size_t>(stack)];
    uint64_t node = 0;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      node = child_of(node, number_of(*frame));
    known = node;
    return node;
  }

  void write(json& device) const {
    device["files"] = files_.texts();
    device["functions"] = functions_.texts();
    device["frames"] = {{"file", file_.base64()}, {"function", function_.base64()}, {"line", line_.base64()}};
    device["stacks"] = {{"parent", parent_.base64()}, {"frame", frame_.base64()}};
  }

 private:
  uint64_t number_of(const Frame& frame) {
    std::array<uint64_t, 3> key = {files_.number_of(frame.filename), functions_.number_of(frame.name),
                                   static_cast<uint64_t>(std::max<int64_t>(0, frame.line))};
    auto [found, is_new] = frames_.try_emplace(key, frames_.size());
    if (is_new) {
      file_.add(key[0]);
      function_.add(key[1]);
      line_.add(key[2]);
    }
    return found->second;
  }

  uint64_t child_of(uint64_t parent, uint64_t frame) {
    auto [found, is_new] = nodes_.try_emplace({parent, frame}, nodes_.size() + 1);
    if (is_new) {
      parent_.add(parent);
      frame_.add(frame);
    }
    return found->second;
  }

  const Run& run_;
  std::vector<std::optional<uint64_t>> node_of_stack_;
  Texts files_;
  Texts functions_;
  std::map<std::array<uint64_t, 3>, uint64_t> frames_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> nodes_;
  Column file_, function_, line_, parent_, frame_;
};

std::string type_text(const TensorInfo& tensor) {
  std::string text = tensor.dtype;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    text += (i == 0 ? (text.empty() ? "" : ":") : "x") + std::to_string(tensor.shape[i]);
  }
  return text;
}

// What blocks have in common: whose they are and where they were made.
class Owners {
 public:
  explicit Owners(const Run& run) : run_(run), stacks_(run) {}

  uint64_t number_of(const BlockLife& block) {
    std::array<uint64_t, 7> key = {
        static_cast<uint64_t>(block.category), block.op, block.module, block.line, 0, 0,
        stacks_.node_of(block.frames)};
    if (block.tensor >= 0 && static_cast<size_t>(block.tensor) < run_.tensors.size()) {
      const TensorInfo& tensor = run_.tensors[static_cast<size_t>(block.tensor)];
      key[4] = names_.number_of(tensor.name);
      key[5] = types_.number_of(type_text(tensor));
    }
    auto [found, is_new] = owners_.try_emplace(key, owners_.size());
    if (is_new) {
      for (size_t i = 0; i < key.size(); ++i) columns_[i].add(key[i]);
    }
    return found->second;
  }

  void write(json& device) const {
    constexpr const char* names[] = {"category", "op", "module", "line", "name", "type", "stack"};
    for (size_t i = 0; i < std::size(names); ++i) device["owners"][names[i]] = columns_[i].base64();
    device["names"] = names_.texts();
    device["types"] = types_.texts();
    stacks_.write(device);
  }

 private:
  const Run& run_;
  Stacks stacks_;
  Texts names_;
  Texts types_;
  std::map<std::array<uint64_t, 7>, uint64_t> owners_;
  std::array<Column, 7> columns_;
};

const std::vector<Event>& trace_of(const Run& run, int32_t device) {
  static const std::vector<Event> nothing;
  auto index = static_cast<size_t>(device);
  return index < run.traces.size() ? run.traces[index] : nothing;
}

// Blocks that stay active for a while after they were freed, since another stream uses them: for each the
// number of events from the one to the other, 0 where that is not in the trace.
void write_pending(const std::vector<Event>& trace, const std::vector<BlockLife>& blocks, json& coded) {
  std::vector<std::pair<uint64_t, size_t>> by_end;
  for (size_t i = 0; i < blocks.size(); ++i) {
    uint64_t freed = blocks[i].freed;
    if (freed == no_event || trace[freed].action != Action::free_requested) continue;
    bool at_once = freed + 1 < trace.size() && trace[freed + 1].action == Action::free_completed &&
                   trace[freed + 1].address == blocks[i].address;
    if (!at_once) by_end.emplace_back(freed, i);
  }
  std::sort(by_end.begin(), by_end.end());
  std::vector<uint64_t> until(by_end.size());
  std::unordered_map<uint64_t, size_t> waiting;  // by address
  size_t next = 0;
  for (uint64_t event = 0; event < trace.size() && (next < by_end.size() || !waiting.empty()); ++event) {
    if (next < by_end.size() && by_end[next].first == event) {
      waiting[trace[event].address] = next;
      ++next;
    } else if (trace[event].action == Action::free_completed) {
      auto found = waiting.find(trace[event].address);
      if (found == waiting.end()) continue;
      until[found->second] = event - by_end[found->second].first;
      waiting.erase(found);
    }
  }
  Column block, end;
  for (size_t i = 0; i < by_end.size(); ++i) {
    block.add_difference(by_end[i].second);
    end.add(until[i]);
  }
  coded["pending_block"] = block.base64();
  coded["pending_until"] = end.base64();
}

void write_blocks(const Run& run, const std::vector<Event>& trace, const std::vector<BlockLife>& blocks,
                  json& device) {
  Unit unit;
  for (const BlockLife& block : blocks) {
    unit.add(block.address);
    unit.add(block.size);
  }
  Owners owners(run);
  Column address, size, rest, born, life, owner;
  for (const BlockLife& block : blocks) {
    address.add_difference(block.address / unit.bytes());
    size.add(block.size / unit.bytes());
    rest.add(block.size > block.requested ? block.size - block.requested : 0);
    uint64_t code = block.born == no_event ? 0 : block.born + 1;
    born.add_difference(code);
    life.add(block.freed == no_event ? 0 : block.freed + 1 - code);
    owner.add(owners.number_of(block));
  }
  json coded = {{"unit", unit.bytes()},   {"address", address.base64()}, {"size", size.base64()},
                {"rest", rest.base64()},  {"born", born.base64()},       {"life", life.base64()},
                {"owner", owner.base64()}};
  write_pending(trace, blocks, coded);
  device["blocks"] = std::move(coded);
  owners.write(device);
}

constexpr Action segment_actions[] = {Action::segment_alloc, Action::segment_free, Action::segment_map,
                                      Action::segment_unmap};

json shortage_json(const Run& run, const Event& event, uint64_t index) {
  Owner owner;
  if (event.frames != no_frames) owner = owner_of(run.stacks.at(static_cast<size_t>(event.frames)));
  return {{"event", index},
          {"size", event.size},
          {"free", event.address},
          {"op", owner.op},
          {"line", owner.line}};
}

void write_segments(const Run& run, int32_t number, const std::vector<Event>& trace, json& device) {
  json first = json::array();
  for (const Segment& segment : state_before_trace(run, number).segments()) {
    first.push_back({{"address", segment.address},
                     {"size", segment.total_size},
                     {"stream", segment.stream},
                     {"expandable", segment.is_expandable}});
  }
  device["first_segments"] = std::move(first);
  Unit unit;
  auto kind_of = [](const Event& event) {
    return static_cast<size_t>(
        std::find(std::begin(segment_actions), std::end(segment_actions), event.action) -
        std::begin(segment_actions));
  };
  for (const Event& event : trace) {
    if (kind_of(event) == std::size(segment_actions)) continue;
    unit.add(event.address);
    unit.add(event.size);
  }
  Column index, kind, address, size, stream;
  json ooms = json::array();
  for (uint64_t i = 0; i < trace.size(); ++i) {
    const Event& event = trace[i];
    if (event.action == Action::oom) ooms.push_back(shortage_json(run, event, i));
    if (kind_of(event) == std::size(segment_actions)) continue;
    index.add_difference(i);
    kind.add(kind_of(event));
    address.add_difference(event.address / unit.bytes());
    size.add(event.size / unit.bytes());
    stream.add(event.stream);
  }
  device["segment_events"] = {{"unit", unit.bytes()},  {"event", index.base64()},
                              {"kind", kind.base64()}, {"address", address.base64()},
                              {"size", size.base64()}, {"stream", stream.base64()}};
  device["ooms"] = std::move(ooms);
}

json usage_json(const std::optional<Usage>& usage) {
  return usage ? json{{"current", usage->current}, {"peak", usage->peak}} : json();
}

json phases_json(const Run& run, int32_t device) {
  json phases = json::array();
  for (const Phase& phase : run.phases) {
    auto index = static_cast<size_t>(device);
    phases.push_back({{"name", phase.name},
                      {"iteration", phase.iteration ? json(*phase.iteration) : json()},
                      {"micro", phase.micro ? json(*phase.micro) : json()},
                      {"events", index < phase.events.size() ? phase.events[index] : 0},
                      {"allocated", usage_json(phase.allocated)},
                      {"reserved", usage_json(phase.reserved)},
                      {"duration_ms", phase.duration_ms ? json(*phase.duration_ms) : json()}});
  }
  return phases;
}

constexpr size_t growing_owners = 3;

// What every iteration leaves behind, with the lines (else modules, else ops) that own most of it.
json growth_json(const Run& run, const BlockHistory& history, int32_t device) {
  std::optional<Growth> growth = find_growth(run, history, device);
  if (!growth) return json();
  json owners = json::array();
  for (const std::vector<UsageEntry>* shares : {&growth->lines, &growth->modules, &growth->ops}) {
    for (const UsageEntry& share : *shares) {
      if (!share.name.empty() && owners.size() < growing_owners) owners.push_back({share.name, share.bytes});
    }
    if (!owners.empty()) break;
  }
  return {{"bytes", growth->bytes_per_iteration},
          {"first_iteration", growth->first_iteration},
          {"phase", growth->phase},
          {"owners", std::move(owners)}};
}

json device_json(const Run& run, int32_t number, const BlockHistory& history) {
  const std::vector<Event>& trace = trace_of(run, number);
  json device = {{"device", number},
                 {"events", history.events()},
                 {"peak", history.peak_events()},
                 {"reserved_peak", history.reserved_peak_events()},
                 {"ops", history.ops()},
                 {"modules", history.modules()},
                 {"module_types", history.module_types()},
                 {"lines", history.lines()},
                 {"phases", phases_json(run, number)},
                 {"growth", growth_json(run, history, number)},
                 {"notes", json::array()},
                 {"problem", json()}};
  write_blocks(run, trace, history.blocks(), device);
  write_segments(run, number, trace, device);
  return device;
}

// Only what the final segments say.
Run without_trace(const Run& run) {
  Run end;
  end.info = run.info;
  end.stacks = run.stacks;
  end.tensors = run.tensors;
  end.segments = run.segments;
  end.has_segments = true;
  end.allocator_settings = run.allocator_settings;
  return end;
}

}  // namespace

json html_device(const Run& run, int32_t device) {
  std::string problem;
  if (!trace_of(run, device).empty()) {
    try {
      return device_json(run, device, BlockHistory(run, device));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      problem = error.what();
    }
  }
  Run end = without_trace(run);
  json result = device_json(end, device, BlockHistory(end, device));
  if (!problem.empty()) {
    result["problem"] = problem + "\nOnly the final segments are shown.";
  } else if (!run.segments.empty()) {
    result["notes"].push_back("No trace was recorded, so only the end is known.");
  } else {
    result["notes"].push_back("Nothing was allocated on this device while it was watched.");
  }
  return result;
}

}  // namespace torchmem
