#include "capture/place.h"

#include <torch/csrc/jit/runtime/interpreter.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/append_bytes.h"
#include "capture/module_path.h"
#include "capture/module_scope.h"
#include "capture/python_frames.h"
#include "capture/source_place.h"

namespace torchmem::capture {
namespace {

// Never destroyed, because the autograd threads outlive static destructors.
struct Interned {
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Place>> places;
  // Keeps the addresses in the keys of `places` unique.
  std::vector<std::shared_ptr<torch::jit::Source>> sources;
};

Interned& interned() {
  static auto* instance = new Interned;
  return *instance;
}

bool is_python_followed = false;

// Without a file where the place is unknown.
Frame source_frame(const torch::jit::StackEntry& entry) {
  const auto place = source_place(entry.range);
  return place ? Frame{place->file, place->line, entry.filename} : Frame{"", 0, entry.filename};
}

const Place* find_python_place() {
  std::string key;
  Stack frames;
  const Place* place = nullptr;
  const auto is_known = [&](const std::string& found) {
    const std::lock_guard lock(interned().mutex);
    const auto known = interned().places.find(found);
    if (known != interned().places.end()) place = known->second.get();
    return place != nullptr;
  };
  if (!python_stack(key, is_known, frames) || place != nullptr) return place;
  const std::lock_guard lock(interned().mutex);
  auto& slot = interned().places[key];
  if (!slot) slot = std::make_unique<Place>(Place{std::move(frames), ""});
  return slot.get();
}

}  // namespace

const Place* find_place(const ModuleScope* scope) {
  const auto entries = torch::jit::currentCallstack();
  if (entries.empty()) return is_python_followed ? find_python_place() : nullptr;
  const auto modules = torch::jit::currentModuleHierarchy();
  std::string key;
  for (const auto& entry : entries) {
    append_bytes(key, entry.range.source().get());
    append_bytes(key, entry.range.start());
  }
  for (const auto& module : modules) key += module;
  if (scope != nullptr) key += "|" + scope->whole("");

  const std::lock_guard lock(interned().mutex);
  auto& slot = interned().places[key];
  if (!slot) {
    slot = std::make_unique<Place>();
    for (const auto& entry : entries) {  // innermost first
      if (Frame frame = source_frame(entry); !frame.filename.empty())
        slot->source.push_back(std::move(frame));
      interned().sources.push_back(entry.range.source());
    }
    slot->module = scope == nullptr ? module_path(modules) : scope->whole(module_path(modules));
  }
  return slot.get();
}

void follow_python() { is_python_followed = true; }

bool follows_python() { return is_python_followed; }

}  // namespace torchmem::capture
