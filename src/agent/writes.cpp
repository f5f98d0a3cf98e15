#include "agent/writes.h"

#include <ATen/record_function.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/virtual_device.h"
#include "capture/written_ranges.h"

namespace torchmem::agent {
namespace {

/// Which arguments an operator writes, by the addresses of its name and overload name, which its schema owns.
class WrittenArguments {
 public:
  using Positions = std::vector<std::uint32_t>;

  /// The reference stays valid.
  const Positions& of(const at::RecordFunction& fn) {
    const Key key{fn.name(), fn.overload_name()};
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = known_.find(key); found != known_.end()) return found->second;
    }
    Positions positions = capture::written_arguments(fn);
    const std::unique_lock lock(mutex_);
    return known_.try_emplace(key, std::move(positions)).first->second;
  }

 private:
  using Key = std::pair<const char*, const char*>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.first) * 31 + std::hash<const void*>()(key.second);
    }
  };

  std::shared_mutex mutex_;
  std::unordered_map<Key, Positions, Hash> known_;
};

WrittenArguments& written_arguments() {
  static auto* instance = new WrittenArguments;  // threads may outlive static destructors
  return *instance;
}

std::unique_ptr<at::ObserverContext> on_operator(const at::RecordFunction& fn) {
  const auto& positions = written_arguments().of(fn);
  if (!positions.empty()) capture::report_written(fn, positions, capture::virtual_device().written);
  return nullptr;
}

}  // namespace

void report_writes() {
  if (capture::virtual_device().written == nullptr) return;
  at::addGlobalCallback(
      at::RecordFunctionCallback(on_operator).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
}

}  // namespace torchmem::agent
