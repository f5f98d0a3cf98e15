#include "assumptions.h"

#include <cstring>
#include <mutex>

#include "device.h"
#include "export.h"
#include "process.h"

using namespace torchmem::vgpu;

namespace {

struct Assumptions {
  Mutex mutex;
  tmv_observer observer{};
  tmv_counts counts{};
};
Immortal<Assumptions> the_assumptions;

enum WorkspaceSource { recorded = 0, unknown = 2 };

}  // namespace

TMV_EXPORT void tmv_set_observer(const tmv_observer* observer) {
  Assumptions& all = the_assumptions.get();
  std::lock_guard<Mutex> lock(all.mutex);
  all.observer = observer ? *observer : tmv_observer{};
}

TMV_EXPORT void tmv_get_counts(tmv_counts* counts) {
  Assumptions& all = the_assumptions.get();
  std::lock_guard<Mutex> lock(all.mutex);
  *counts = all.counts;
}

TMV_EXPORT void tmv_count_unmodelled(const char* library, const char* function) {
  Assumptions& all = the_assumptions.get();
  tmv_observer observer;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    ++all.counts.unmodelled_calls;
    observer = all.observer;
  }
  process_counts_changed();
  process_called(library, function);
  if (observer.unmodelled) observer.unmodelled(observer.user, library, function);
}

TMV_EXPORT void tmv_count_workspace(const char* library, const char* operation, const char* problem,
                                    size_t bytes, int how) {
  Assumptions& all = the_assumptions.get();
  tmv_observer observer;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    ++(how == recorded  ? all.counts.recorded_workspaces
       : how == unknown ? all.counts.unknown_workspaces
                        : all.counts.estimated_workspaces);
    observer = all.observer;
  }
  if (how != recorded) process_counts_changed();
  if (observer.workspace) observer.workspace(observer.user, library, operation, problem, bytes, how);
}

TMV_EXPORT void tmv_count_value(uint64_t address, size_t bytes) {
  tmv_assume_value(address, bytes, nullptr, nullptr, 0);
}

TMV_EXPORT int tmv_assume_value(uint64_t address, size_t bytes, void* to, const tmv_gap* gaps, size_t count) {
  Assumptions& all = the_assumptions.get();
  tmv_observer observer;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    observer = all.observer;
  }
  int assumed = observer.value_assumed
                    ? observer.value_assumed(observer.user, address, bytes, to, gaps, count)
                    : tmv_assumed_gaps;
  if (assumed == tmv_not_assumed) return assumed;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    ++all.counts.assumed_values;
    all.counts.assumed_bytes += bytes;
  }
  process_counts_changed();
  return assumed;
}

TMV_EXPORT void tmv_captured_work(void* work, bool launched) {
  Assumptions& all = the_assumptions.get();
  tmv_observer observer;
  {
    std::lock_guard<Mutex> lock(all.mutex);
    observer = all.observer;
  }
  auto* tell = launched ? observer.launched : observer.dropped;
  if (tell) tell(observer.user, work);
}

TMV_EXPORT int tmv_profile_json(char* buffer, size_t size) {
  const Profile* profile = process_profile();
  if (!profile) return 0;
  size_t needed = profile->text.size() + 1;
  if (buffer && size >= needed) std::memcpy(buffer, profile->text.c_str(), needed);
  return static_cast<int>(needed);
}
