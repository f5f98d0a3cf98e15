#include "torchmem/stream.h"

#include <spdlog/fmt/fmt.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "run/assumption_json.h"
#include "run/file.h"
#include "run/phase_json.h"
#include "run/run_info_json.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr std::string_view first_line = "torchmem-stream 1";
constexpr int32_t max_devices = 1024;

class StreamReader {
 public:
  explicit StreamReader(const std::string& name) : name_(name) { run_.is_ours = true; }

  Run read(std::string_view text) {
    while (!text.empty()) {
      size_t end = text.find('\n');
      if (end == std::string_view::npos) break;  // the writer died within this line
      ++line_;
      read_line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    if (auto settings = info_.find("allocator_settings"); settings != info_.end()) {
      run_.allocator_settings = *settings;
      info_.erase(settings);
    }
    run_.info = info_from_json(std::move(info_));
    return std::move(run_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> what, Args&&... args) const {
    throw Error(ErrorKind::internal, fmt::format("reading {}, line {}: {}", name_, line_,
                                                 fmt::format(what, std::forward<Args>(args)...)));
  }

  void read_line(std::string_view line) {
    if (line_ == 1) {
      if (line != first_line) fail("expected '{}', got '{}'", first_line, shorten(line));
      return;
    }
    if (line.size() < 2 || line[1] != ' ') fail("expected a record, got '{}'", shorten(line));
    std::string_view rest = line.substr(2);
    try {
      switch (line[0]) {
        case 'E':
          return read_event(rest);
        case 'B':
          return read_block(rest);
        case 'F':
          return read_stack(rest);
        case 'T':
          return read_tensor(rest);
        case 'O':
          return read_owner(rest);
        case 'M':
          return info_.merge_patch(json::parse(rest));
        case 'P':
          return read_phase(json::parse(rest));
        case 'V':
          return add_assumption(run_.assumptions, assumption_from_json(json::parse(rest)));
        case 'Z':
          return read_segments(json::parse(rest));
        case 'X':
          run_.error = error_from_json(json::parse(rest));
          return;
        default:
          fail("unknown record '{}'", line[0]);
      }
    } catch (const json::exception& error) {
      fail("{}", error.what());
    }
  }

  static std::string_view shorten(std::string_view text) { return text.substr(0, 40); }

  // Takes the next blank-separated word off `rest`.
  std::string_view word(std::string_view& rest) const {
    size_t end = rest.find(' ');
    std::string_view found = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (found.empty()) fail("a field is missing");
    return found;
  }

  template <typename T>
  T number(std::string_view text) const {
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      fail("expected a number, got '{}'", shorten(text));
    }
    return value;
  }

  void read_event(std::string_view rest) {
    Event event;
    std::string_view name = word(rest);
    std::optional<Action> action = action_from(name);
    if (!action) fail("unknown action '{}'", shorten(name));
    event.action = *action;
    event.device = number<int32_t>(word(rest));
    if (event.device < 0 || event.device >= max_devices) fail("no such device");
    event.address = number<uint64_t>(word(rest));
    event.size = number<uint64_t>(word(rest));
    event.stream = number<uint64_t>(word(rest));
    event.time_us = number<int64_t>(word(rest));
    event.frames = index_or(word(rest), run_.stacks.size(), no_frames, "stack of frames");
    auto device = static_cast<size_t>(event.device);
    if (device >= run_.traces.size()) run_.traces.resize(device + 1);
    where_.emplace_back(event.device, static_cast<uint32_t>(run_.traces[device].size()));
    run_.traces[device].push_back(event);
  }

  void read_block(std::string_view rest) {
    auto index = number<uint64_t>(word(rest));
    auto size = number<uint64_t>(word(rest));
    if (index >= where_.size()) fail("event {} has not happened yet", index);
    auto [device, position] = where_[index];
    run_.traces[static_cast<size_t>(device)][position].block_size = size;
  }

  void read_stack(std::string_view rest) {
    auto id = number<uint64_t>(word(rest));
    if (id != run_.stacks.size()) fail("expected stack {}", run_.stacks.size());
    std::vector<Frame> stack;
    for (const json& frame : json::parse(rest)) {
      stack.push_back({frame.at("filename").get<std::string>(), frame.at("line").get<int64_t>(),
                       frame.at("name").get<std::string>()});
    }
    run_.stacks.push_back(std::move(stack));
  }

  void read_tensor(std::string_view rest) {
    auto id = number<uint64_t>(word(rest));
    if (id != run_.tensors.size()) fail("expected tensor {}", run_.tensors.size());
    run_.tensors.push_back(tensor_from_json(json::parse(rest)));
  }

  // An index into what was given before, or `none` for "-".
  int32_t index_or(std::string_view text, size_t count, int32_t none, const char* what) const {
    if (text == "-") return none;
    auto index = number<int32_t>(text);
    if (index < 0 || static_cast<size_t>(index) >= count) {
      fail("{} {} was not given before", what, text);
    }
    return index;
  }

  void read_owner(std::string_view rest) {
    auto index = number<uint64_t>(word(rest));
    if (index >= where_.size()) fail("event {} has not happened yet", index);
    std::string_view name = word(rest);
    std::optional<Category> category = category_from(name);
    if (!category) fail("unknown category '{}'", shorten(name));
    auto [device, position] = where_[index];
    Event& event = run_.traces[static_cast<size_t>(device)][position];
    event.category = *category;
    event.tensor = index_or(word(rest), run_.tensors.size(), no_tensor, "tensor");
    event.saved_by = index_or(word(rest), run_.stacks.size(), no_frames, "stack of frames");
  }

  void read_phase(const json& object) {
    Phase phase = phase_from_json(object);
    if (auto events = object.find("events"); events != object.end()) {
      auto happened = events->get<uint64_t>();
      if (happened > where_.size()) fail("a phase's end after events that have not happened yet");
      // Nearly always all of them: the phase's end is written right after its last event.
      for (const auto& trace : run_.traces) phase.events.push_back(trace.size());
      for (size_t later = where_.size(); later > happened; --later) {
        --phase.events[static_cast<size_t>(where_[later - 1].first)];
      }
    }
    run_.phases.push_back(std::move(phase));
  }

  void read_segments(const json& object) {
    run_.segments.clear();
    for (const json& segment : object.at("segments")) run_.segments.push_back(segment_from_json(segment));
    run_.has_segments = true;
  }

  const std::string& name_;
  size_t line_ = 0;
  Run run_;
  json info_ = json::object();
  std::vector<std::pair<int32_t, uint32_t>> where_;  // of each E record: device, index in its trace
};

}  // namespace

Run read_stream(std::string_view text, const std::string& name) { return StreamReader(name).read(text); }

Run read_stream_file(const std::filesystem::path& path) {
  try {
    MappedFile file(path);
    return read_stream(file.text(), path.string());
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::internal, std::string("reading the engine's events: ") + error.what());
  }
}

}  // namespace torchmem
