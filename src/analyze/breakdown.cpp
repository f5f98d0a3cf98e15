#include "torchmem/breakdown.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analyze/usage.h"
#include "torchmem/block_history.h"
#include "torchmem/point.h"

namespace torchmem {

namespace {

// No model nests deeper; a damaged file may, and a tree's own end takes a call for each level.
constexpr size_t max_depth = 200;

std::array<UsageEntry, category_count> categories_of(const std::vector<const BlockLife*>& blocks) {
  std::array<UsageEntry, category_count> shares;
  for (size_t i = 0; i < category_count; ++i) shares[i].name = name_of(static_cast<Category>(i));
  for (const BlockLife* block : blocks) add(shares[static_cast<size_t>(block->category)], *block);
  return shares;
}

// The tree of modules while it is filled, its nodes found by path.
class ModuleTree {
 public:
  explicit ModuleTree(const BlockHistory& history) : history_(history) {
    for (size_t i = 0; i < history.modules().size(); ++i)
      types_[history.modules()[i]] = history.module_types()[i];
    nodes_.push_back(node(""));
    places_[""] = 0;
  }

  void add(const BlockLife& block) {
    size_t at = place(history_.modules()[block.module]);
    ModuleUsage& own = nodes_[at].share;
    own.own += block.size;
    ++own.blocks;
    for (;; at = nodes_[at].parent) {
      ModuleUsage& share = nodes_[at].share;
      share.inclusive += block.size;
      share.by_category[static_cast<size_t>(block.category)] += block.size;
      if (at == 0) return;
    }
  }

  ModuleUsage root() { return finish(0); }

 private:
  struct Node {
    ModuleUsage share;
    size_t parent = 0;
  };

  Node node(const std::string& path) {
    Node made;
    made.share.path = path;
    auto type = types_.find(path);
    if (type != types_.end()) made.share.type = type->second;
    return made;
  }

  // The node of a path, with those above it.
  size_t place(const std::string& path) {
    auto known = places_.find(path);
    if (known != places_.end()) return known->second;
    size_t at = 0;
    size_t end = 0;
    for (size_t depth = 1; end != std::string::npos; ++depth) {
      end = depth < max_depth ? path.find('.', end + 1) : std::string::npos;
      std::string prefix = path.substr(0, end);
      auto [slot, is_new] = places_.try_emplace(prefix, nodes_.size());
      if (is_new) {
        nodes_.push_back(node(prefix));
        nodes_.back().parent = at;
      }
      at = slot->second;
    }
    return at;
  }

  // A node comes after its parent in nodes_.
  ModuleUsage finish(size_t root) {
    for (size_t at = nodes_.size(); at-- > 0;) {
      std::vector<ModuleUsage>& children = nodes_[at].share.children;
      std::sort(children.begin(), children.end(), [](const ModuleUsage& a, const ModuleUsage& b) {
        return std::tie(b.inclusive, a.path) < std::tie(a.inclusive, b.path);
      });
      if (at != root) nodes_[nodes_[at].parent].share.children.push_back(std::move(nodes_[at].share));
    }
    return std::move(nodes_[root].share);
  }

  const BlockHistory& history_;
  std::unordered_map<std::string, std::string> types_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, size_t> places_;
};

std::vector<SegmentUsage> segments_of(const AllocatorState& state,
                                      const std::vector<const BlockLife*>& alive) {
  std::unordered_map<uint64_t, const BlockLife*> by_address;
  for (const BlockLife* block : alive) by_address[block->address] = block;
  std::vector<SegmentUsage> shares;
  for (Segment& segment : state.segments()) {
    SegmentUsage share;
    share.inactive = segment.total_size - segment.active_size;
    for (const Block& block : segment.blocks) {
      if (block.state == Block::State::inactive)
        share.largest_inactive = std::max(share.largest_inactive, block.size);
      auto holder = by_address.find(block.address);
      if (holder != by_address.end()) share.holders.push_back(holder->second);
    }
    sort_by_size(share.holders);
    share.segment = std::move(segment);
    shares.push_back(std::move(share));
  }
  std::sort(shares.begin(), shares.end(), [](const SegmentUsage& a, const SegmentUsage& b) {
    return std::tie(b.inactive, a.segment.address) < std::tie(a.inactive, b.segment.address);
  });
  return shares;
}

}  // namespace

Breakdown break_down(const Run& run, const BlockHistory& history, int32_t device, const Point& point) {
  AllocatorState state = state_after(run, device, point.events);
  Breakdown result;
  result.point = point;
  result.totals = state.totals();
  for (const BlockLife& block : history.blocks()) {
    if (block.alive_after(point.events)) result.tensors.push_back(&block);
  }
  result.categories = categories_of(result.tensors);
  ModuleTree modules(history);
  for (const BlockLife* block : result.tensors) modules.add(*block);
  result.root = modules.root();
  result.ops = entries_of(result.tensors, history.ops(), [](const BlockLife& block) { return block.op; });
  result.lines =
      entries_of(result.tensors, history.lines(), [](const BlockLife& block) { return block.line; });
  result.segments = segments_of(state, result.tensors);
  for (const SegmentUsage& segment : result.segments)
    result.largest_inactive = std::max(result.largest_inactive, segment.largest_inactive);
  sort_by_size(result.tensors);
  return result;
}

}  // namespace torchmem
