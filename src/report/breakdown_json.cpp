#include "report/breakdown_json.h"

#include <algorithm>

namespace torchmem {

using nlohmann::json;

namespace {

// A segment can hold hundreds of thousands of blocks; the largest say what keeps it open.
constexpr size_t most_holders = 10;

json share_json(const UsageEntry& share) {
  return {{"name", share.name},
          {"bytes", share.bytes},
          {"requested_bytes", share.requested},
          {"blocks", share.blocks}};
}

json shares_json(const std::vector<UsageEntry>& shares) {
  json list = json::array();
  for (const UsageEntry& share : shares) list.push_back(share_json(share));
  return list;
}

json event_json(const Analysis& analysis, uint64_t event) {
  json object = {{"event", event}};
  const Phase* phase = analysis.phase_of(event);
  if (!phase) return object;
  object["phase"] = phase->name;
  if (phase->iteration) object["iteration"] = *phase->iteration;
  if (phase->micro) object["micro"] = *phase->micro;
  return object;
}

json block_json(const Analysis& analysis, const BlockLife& block) {
  const BlockHistory& history = analysis.history();
  json object = {{"address", block.address},
                 {"bytes", block.size},
                 {"requested_bytes", block.requested},
                 {"category", name_of(block.category)}};
  if (block.tensor != no_tensor) {
    const TensorInfo& tensor = analysis.run().tensors[static_cast<size_t>(block.tensor)];
    if (!tensor.name.empty()) object["name"] = tensor.name;
    if (!tensor.dtype.empty()) {
      object["dtype"] = tensor.dtype;
      object["shape"] = tensor.shape;
    }
  }
  if (block.op != 0) object["op"] = history.ops()[block.op];
  if (block.module != 0) object["module"] = history.modules()[block.module];
  if (block.line != 0) object["line"] = history.lines()[block.line];
  if (block.born != no_event) object["born"] = event_json(analysis, block.born);
  if (block.freed != no_event) object["until"] = event_json(analysis, block.freed);
  return object;
}

json blocks_json(const Analysis& analysis, const std::vector<const BlockLife*>& blocks, size_t most) {
  json list = json::array();
  for (size_t i = 0; i < blocks.size() && i < most; ++i) list.push_back(block_json(analysis, *blocks[i]));
  return list;
}

// The sum of the blocks from the `first` on.
json rest_json(const std::vector<const BlockLife*>& blocks, size_t first) {
  uint64_t bytes = 0;
  uint64_t requested = 0;
  uint64_t count = 0;
  for (size_t i = first; i < blocks.size(); ++i) {
    bytes += blocks[i]->size;
    requested += blocks[i]->requested;
    ++count;
  }
  return {{"bytes", bytes}, {"requested_bytes", requested}, {"blocks", count}};
}

// Depth first, the root first.
void add_modules(const ModuleUsage& module, json& list) {
  json categories = json::object();
  for (size_t i = 0; i < category_count; ++i) {
    categories[std::string(name_of(static_cast<Category>(i)))] = module.by_category[i];
  }
  json object = {{"path", module.path},
                 {"own_bytes", module.own},
                 {"bytes", module.inclusive},
                 {"blocks", module.blocks},
                 {"by_category", std::move(categories)}};
  if (!module.type.empty()) object["type"] = module.type;
  list.push_back(std::move(object));
  for (const ModuleUsage& child : module.children) add_modules(child, list);
}

json segment_json(const Analysis& analysis, const SegmentUsage& share, size_t most_blocks) {
  const Segment& segment = share.segment;
  return {{"address", segment.address},
          {"stream", segment.stream},
          {"pool", segment.is_large ? "large" : "small"},
          {"expandable", segment.is_expandable},
          {"bytes", segment.total_size},
          {"allocated_bytes", segment.allocated_size},
          {"active_bytes", segment.active_size},
          {"inactive_bytes", share.inactive},
          {"largest_inactive_bytes", share.largest_inactive},
          {"blocks", share.holders.size()},
          {"largest_blocks", blocks_json(analysis, share.holders, std::min(most_holders, most_blocks))}};
}

}  // namespace

json views_json(const Analysis& analysis, const Breakdown& breakdown, size_t most_blocks) {
  json categories = json::object();
  for (size_t i = 0; i < category_count; ++i) {
    categories[std::string(name_of(static_cast<Category>(i)))] = breakdown.categories[i].bytes;
  }
  json modules = json::array();
  add_modules(breakdown.root, modules);
  json segments = json::array();
  for (const SegmentUsage& share : breakdown.segments) {
    segments.push_back(segment_json(analysis, share, most_blocks));
  }
  json views = {{"by_category", std::move(categories)},
                {"by_module", std::move(modules)},
                {"by_op", shares_json(breakdown.ops)},
                {"by_line", shares_json(breakdown.lines)},
                {"by_tensor", blocks_json(analysis, breakdown.tensors, most_blocks)},
                {"by_segment", std::move(segments)}};
  if (breakdown.tensors.size() > most_blocks) {
    views["other_tensors"] = rest_json(breakdown.tensors, most_blocks);
  }
  return views;
}

json totals_json(const AllocatorTotals& totals, uint64_t largest_inactive) {
  return {{"allocated_bytes", totals.allocated},
          {"requested_bytes", totals.requested},
          {"active_bytes", totals.active},
          {"reserved_bytes", totals.reserved},
          {"rounding_bytes", totals.active - totals.requested},
          {"inactive_split_bytes", totals.inactive_split},
          {"largest_inactive_bytes", largest_inactive}};
}

json point_json(const Analysis& analysis, const Breakdown& breakdown, size_t most_blocks) {
  json object = totals_json(breakdown.totals, breakdown.largest_inactive);
  object["moment"] = breakdown.point.name;
  object["events"] = breakdown.point.events;
  if (breakdown.point.phase) object["phase"] = *breakdown.point.phase;
  if (breakdown.point.iteration) object["iteration"] = *breakdown.point.iteration;
  object.update(views_json(analysis, breakdown, most_blocks));
  return object;
}

json growth_json(const Analysis& analysis, size_t most_blocks) {
  const Growth& growth = *analysis.growth();
  json object = {{"bytes_per_iteration", growth.bytes_per_iteration},
                 {"first_iteration", growth.first_iteration},
                 {"phase", growth.phase},
                 {"by_category", shares_json(growth.categories)},
                 {"by_op", shares_json(growth.ops)},
                 {"by_module", shares_json(growth.modules)},
                 {"by_line", shares_json(growth.lines)},
                 {"by_tensor", blocks_json(analysis, growth.blocks, most_blocks)}};
  if (growth.blocks.size() > most_blocks) object["other_tensors"] = rest_json(growth.blocks, most_blocks);
  if (std::optional<uint64_t> left = analysis.iterations_left()) {
    object["most_iterations_left"] = *left;
    object["room_bytes"] = *analysis.room();
  }
  return object;
}

}  // namespace torchmem
