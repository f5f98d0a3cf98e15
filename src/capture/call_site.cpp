#include "capture/call_site.h"

#include <mutex>
#include <unordered_map>

#include "capture/append_bytes.h"
#include "capture/open_operators.h"
#include "capture/place.h"
#include "values/observer.h"

namespace torchmem::capture {
namespace {

// Never destroyed, because the autograd threads outlive static destructors.
struct Stacks {
  std::mutex mutex;
  std::unordered_map<std::string, StackId> ids;
};

Stacks& stacks() {
  static auto* instance = new Stacks;
  return *instance;
}

// The innermost frame that is not PyTorch's own: its modules lie in torch/, its decompositions are strings.
const Frame* own_frame(const Stack& source) {
  const Frame* innermost = nullptr;
  for (const auto& frame : source) {
    if (frame.filename == "<string>") continue;
    if (innermost == nullptr) innermost = &frame;
    if (frame.filename.find("site-packages/torch/") == std::string::npos) return &frame;
  }
  return innermost;
}

}  // namespace

StackId current_stack(StreamWriter& writer) {
  auto& state = open_operators();
  const Place* place = current_place(state);
  if (state.open.empty() && place == nullptr) return no_stack;
  std::string key;
  key.reserve((state.open.size() + 1) * sizeof(void*));
  for (const Operator* op : state.open) append_bytes(key, op);
  append_bytes(key, place);

  const std::lock_guard lock(stacks().mutex);
  const auto [slot, inserted] = stacks().ids.try_emplace(key, no_stack);
  if (inserted) {
    Stack frames;
    for (auto it = state.open.rbegin(); it != state.open.rend(); ++it)
      frames.push_back({operator_file, 0, (*it)->name});
    if (place != nullptr) {
      if (!place->module.empty()) frames.push_back({module_file, 0, place->module});
      frames.insert(frames.end(), place->source.begin(), place->source.end());
    }
    slot->second = writer.stack(frames);
  }
  return slot->second;
}

CallSite current_call_site() {
  auto& state = open_operators();
  CallSite site;
  site.op = state.open.empty() ? values::current_reading().op : state.open.back()->name;
  if (const Place* place = current_place(state)) {
    site.module = place->module;
    if (const Frame* frame = own_frame(place->source)) {
      site.line = frame->filename + ":" + std::to_string(frame->line);
    }
  }
  return site;
}

}  // namespace torchmem::capture
