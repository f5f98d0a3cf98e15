#include "report/module_tree.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>

namespace torchmem {

namespace {

constexpr uint64_t least_part = 100;  // of the whole

// The module below which the bytes are: follows children as long as there is one with bytes and nothing else.
const ModuleUsage& end_of_chain(const ModuleUsage& start) {
  const ModuleUsage* module = &start;
  while (module->own == 0) {
    const ModuleUsage* only = nullptr;
    size_t with_bytes = 0;
    for (const ModuleUsage& child : module->children) {
      if (child.inclusive == 0) continue;
      ++with_bytes;
      only = &child;
    }
    if (with_bytes != 1) break;
    module = only;
  }
  return *module;
}

// What `path` adds to `above`.
std::string below(const std::string& path, const std::string& above) {
  return above.empty() ? path : path.substr(std::min(path.size(), above.size() + 1));
}

// A module that may be shown; the first of a set is the next to be. A level counts four times as much as the
// one below it: what a reader knows by name comes before its parts, unless those are most of it all.
struct Candidate {
  uint64_t weight = 0;
  size_t depth = 0;
  const ModuleUsage* module = nullptr;
  bool operator<(const Candidate& other) const {
    return std::tie(other.weight, depth, module->path) < std::tie(weight, other.depth, other.module->path);
  }
};

void add_shown(const ModuleUsage& module, const std::unordered_set<const ModuleUsage*>& chosen, size_t depth,
               const std::string& above, std::vector<ShownModule>& shown) {
  for (const ModuleUsage& child : module.children) {
    const ModuleUsage& end = end_of_chain(child);
    if (!chosen.contains(&end)) continue;
    shown.push_back({&end, depth, below(end.path, above)});
    add_shown(end, chosen, depth + 1, end.path, shown);
  }
}

}  // namespace

std::vector<ShownModule> modules_to_show(const ModuleUsage& root, size_t most) {
  std::set<Candidate> candidates;
  auto offer = [&](const ModuleUsage& module, size_t depth) {
    for (const ModuleUsage& child : module.children) {
      if (child.inclusive == 0 || child.inclusive < root.inclusive / least_part) continue;
      candidates.insert({child.inclusive >> std::min<size_t>(2 * depth, 63), depth, &end_of_chain(child)});
    }
  };
  std::unordered_set<const ModuleUsage*> chosen;
  offer(root, 0);
  while (!candidates.empty() && chosen.size() < most) {
    Candidate largest = *candidates.begin();
    candidates.erase(candidates.begin());
    chosen.insert(largest.module);
    offer(*largest.module, largest.depth + 1);
  }
  std::vector<ShownModule> shown = {{&root, 0, ""}};
  add_shown(root, chosen, 1, root.path, shown);
  return shown;
}

std::string short_type(const std::string& type) { return type.substr(type.rfind('.') + 1); }

}  // namespace torchmem
