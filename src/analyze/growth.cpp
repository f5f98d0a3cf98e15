#include "torchmem/growth.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "analyze/phase_time.h"
#include "analyze/usage.h"
#include "torchmem/block_history.h"
#include "torchmem/breakdown.h"

namespace torchmem {

namespace {

// An iteration's part of the device's trace: from `begin` to `end` events had happened.
struct Iteration {
  int64_t number = 0;
  size_t phases = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Those that ended: the last one of a run that was stopped lacks phases.
std::vector<Iteration> iterations_of(const Run& run, int32_t device) {
  std::vector<Iteration> iterations;
  uint64_t events = 0;
  for (const Phase& phase : run.phases) {
    uint64_t end = std::max(events, events_at_end(phase, device));
    if (phase.iteration) {
      if (iterations.empty() || iterations.back().number != *phase.iteration)
        iterations.push_back({*phase.iteration, 0, events, 0});
      ++iterations.back().phases;
      iterations.back().end = end;
    }
    events = end;
  }
  if (!iterations.empty() && iterations.back().phases < iterations.front().phases) iterations.pop_back();
  return iterations;
}

using OwnerKey = std::tuple<Category, uint32_t, uint32_t, uint32_t>;

OwnerKey owner_key(const BlockLife& block) { return {block.category, block.op, block.module, block.line}; }

using Sums = std::map<OwnerKey, UsageEntry>;

Sums alive_by_owner(const BlockHistory& history, uint64_t events) {
  Sums sums;
  for (const BlockLife& block : history.blocks()) {
    if (block.alive_after(events)) add(sums[owner_key(block)], block);
  }
  return sums;
}

// What the blocks alive at each iteration's end were asked for: the same tensors may lie in blocks with other
// rests.
std::vector<uint64_t> requested_at_ends(const BlockHistory& history,
                                        const std::vector<Iteration>& iterations) {
  std::vector<uint64_t> sums(iterations.size() + 1);
  // The first iteration that ends after that event.
  auto ending_after = [&](uint64_t event) {
    auto first = std::upper_bound(iterations.begin(), iterations.end(), event,
                                  [](uint64_t at, const Iteration& iteration) { return at < iteration.end; });
    return static_cast<size_t>(first - iterations.begin());
  };
  for (const BlockLife& block : history.blocks()) {
    sums[block.born == no_event ? 0 : ending_after(block.born)] += block.requested;
    if (block.freed != no_event) sums[ending_after(block.freed)] -= block.requested;
  }
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  sums.pop_back();
  return sums;
}

// The first of the iterations from which on each left as much more than the one before it; none when the
// last did not, or did so once after others that did otherwise.
std::optional<size_t> first_that_grew(const BlockHistory& history, const std::vector<Iteration>& iterations) {
  size_t count = iterations.size();
  if (count < 2) return std::nullopt;
  std::vector<uint64_t> left = requested_at_ends(history, iterations);
  if (left[count - 1] <= left[count - 2]) return std::nullopt;
  uint64_t growth = left[count - 1] - left[count - 2];
  size_t first = count - 1;
  while (first > 1 && left[first - 1] > left[first - 2] && left[first - 1] - left[first - 2] == growth)
    --first;
  bool happened_once = first == count - 1 && count > 2;
  return happened_once ? std::nullopt : std::optional(first);
}

// Adds to the share of that name.
void gather(std::vector<UsageEntry>& shares, const std::string& name, const UsageEntry& part) {
  auto same =
      std::find_if(shares.begin(), shares.end(), [&](const UsageEntry& share) { return share.name == name; });
  if (same == shares.end()) same = shares.insert(shares.end(), {name, 0, 0, 0});
  same->bytes += part.bytes;
  same->requested += part.requested;
  same->blocks += part.blocks;
}

// The phase in which most of these bytes were born.
std::string phase_of_birth(const Run& run, int32_t device, const std::vector<const BlockLife*>& blocks) {
  std::vector<UsageEntry> phases;
  for (const BlockLife* block : blocks) {
    const Phase* phase = phase_at(run, device, block->born);
    if (phase) gather(phases, phase->name, {"", block->size, block->requested, 1});
  }
  sort_entries(phases);
  return phases.empty() ? "" : phases.front().name;
}

}  // namespace

std::optional<Growth> find_growth(const Run& run, const BlockHistory& history, int32_t device) {
  std::vector<Iteration> iterations = iterations_of(run, device);
  std::optional<size_t> first = first_that_grew(history, iterations);
  if (!first) return std::nullopt;
  const Iteration& last = iterations.back();
  Growth growth;
  growth.first_iteration = iterations[*first].number;

  Sums before = alive_by_owner(history, iterations[iterations.size() - 2].end);
  Sums grown;
  for (const auto& [owner, now] : alive_by_owner(history, last.end)) {
    const UsageEntry& then = before[owner];
    // An owner of other blocks than before may have fewer of them, or less in rests.
    if (now.requested <= then.requested || now.bytes <= then.bytes) continue;
    UsageEntry more{"", now.bytes - then.bytes, now.requested - then.requested,
                    now.blocks - std::min(now.blocks, then.blocks)};
    const auto& [category, op, module, line] = owner;
    gather(growth.categories, std::string(name_of(category)), more);
    gather(growth.ops, history.ops()[op], more);
    gather(growth.modules, history.modules()[module], more);
    gather(growth.lines, history.lines()[line], more);
    growth.bytes_per_iteration += more.bytes;
    grown.emplace(owner, more);
  }
  for (std::vector<UsageEntry>* shares : {&growth.categories, &growth.ops, &growth.modules, &growth.lines})
    sort_entries(*shares);
  for (const BlockLife& block : history.blocks()) {
    bool is_of_last = block.born != no_event && block.born >= last.begin && block.born < last.end;
    if (is_of_last && block.alive_after(last.end) && grown.contains(owner_key(block)))
      growth.blocks.push_back(&block);
  }
  sort_by_size(growth.blocks);
  growth.phase = phase_of_birth(run, device, growth.blocks);
  return growth;
}

}  // namespace torchmem
