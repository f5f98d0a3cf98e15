// Writes runs by hand, event by event.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torchmem::test {

constexpr uint64_t KiB = 1 << 10;
constexpr uint64_t MiB = 1 << 20;

class Recorder {
 public:
  Recorder() {
    run.is_ours = true;
    run.traces.resize(1);
  }

  // The index of the stack: an op, its module ("" for none) and line ("" for none).
  int32_t stack(const std::string& op, const std::string& module = "", const std::string& file = "",
                int64_t line = 0) {
    std::vector<Frame> frames = {{"<op>", 0, op}};
    if (!module.empty()) frames.push_back({"<module>", 0, module});
    if (!file.empty()) frames.push_back({file, line, "forward"});
    run.stacks.push_back(std::move(frames));
    return static_cast<int32_t>(run.stacks.size()) - 1;
  }

  void segment(uint64_t address, uint64_t size) { event(Action::segment_alloc, address, size); }

  Event& alloc(uint64_t address, uint64_t requested, uint64_t block, Category category = Category::other,
               int32_t frames = no_frames) {
    Event& made = event(Action::alloc, address, requested);
    made.block_size = block;
    made.category = category;
    made.frames = frames;
    return made;
  }

  void free(uint64_t address, uint64_t requested) {
    event(Action::free_requested, address, requested);
    event(Action::free_completed, address, requested);
  }

  Event& event(Action action, uint64_t address, uint64_t size) {
    Event made;
    made.action = action;
    made.address = address;
    made.size = size;
    run.traces[0].push_back(made);
    return run.traces[0].back();
  }

  void phase(const std::string& name, std::optional<int64_t> iteration = {},
             std::optional<int64_t> micro = {}) {
    Phase ended;
    ended.name = name;
    ended.iteration = iteration;
    ended.micro = micro;
    ended.events = {run.traces[0].size()};
    run.phases.push_back(std::move(ended));
  }

  Run run;
};

// What a call refuses with.
template <class Call>
std::pair<ErrorKind, std::string> refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {ErrorKind::internal, "accepted"};
}

}  // namespace torchmem::test
