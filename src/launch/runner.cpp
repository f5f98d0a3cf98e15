#include "launch/runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "launch/engine_info.h"
#include "launch/engine_process.h"

namespace torchmem {

namespace {

// What an engine on the virtual GPU was measured to hold (170 MiB), with room.
constexpr uint64_t engine_bytes = uint64_t{256} << 20;

// A number in a file of the kernel's; nothing when it has none ("max").
std::optional<uint64_t> read_number(const char* path, const std::string& name = "") {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream rest(line.substr(name.size()));
    uint64_t number = 0;
    if (rest >> number) return number;
    return std::nullopt;
  }
  return std::nullopt;
}

uint64_t free_memory() {
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
  if (auto kibibytes = read_number("/proc/meminfo", "MemAvailable:")) bytes = *kibibytes * 1024;
  auto most = read_number("/sys/fs/cgroup/memory.max");
  auto used = read_number("/sys/fs/cgroup/memory.current");
  if (most && used) bytes = std::min(bytes, *most - std::min(*most, *used));
  return bytes;
}

Run failed_run(ErrorKind kind, const std::string& message) {
  Run run;
  run.is_ours = true;
  RunError error;
  error.kind = kind;
  error.message = message;
  error.detail = nlohmann::json::object();
  run.error = std::move(error);
  return run;
}

bool is_real(const Job& job) { return job.device.kind == DeviceChoice::Kind::cuda; }

}  // namespace

size_t parallel_engines() {
  uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<size_t>(std::clamp<uint64_t>(free_memory() / engine_bytes, 1, cores));
}

Runner::Runner(const std::string& what, bool is_quiet, size_t at_once)
    : what_(what), progress_(what, is_quiet), at_once_(at_once == 0 ? parallel_engines() : at_once) {}

void Runner::run(const std::vector<Job>& jobs, const OnResult& on_result) {
  size_t at_once = std::any_of(jobs.begin(), jobs.end(), is_real) ? 1 : at_once_;
  spdlog::debug("{} runs, at most {} at once", jobs.size(), at_once);
  std::map<size_t, std::pair<size_t, std::unique_ptr<EngineProcess>>> running;  // by the child's number
  size_t next = 0;
  size_t done = 0;
  auto give = [&](size_t index, Run run) {
    ++done;
    add_engine_info(run, jobs[index].request, jobs[index].device);
    on_result(index, std::move(run));
  };
  auto start = [&] {
    size_t index = next++;
    spdlog::debug("run {} of {}: {}", index + 1, jobs.size(), jobs[index].name);
    if (children_.interrupted()) {
      give(index, failed_run(ErrorKind::interrupted, "interrupted before it was run"));
      return;
    }
    try {
      auto engine = std::make_unique<EngineProcess>(jobs[index].request, jobs[index].device, true);
      size_t child = children_.start(engine->child());
      running.emplace(child, std::pair(index, std::move(engine)));
    } catch (const std::system_error& error) {
      give(index, failed_run(ErrorKind::unavailable, std::string("cannot ") + error.what()));
    } catch (const Error& error) {
      give(index, failed_run(error.kind(), error.what()));
    }
  };
  while (next < jobs.size() || !running.empty()) {
    while (next < jobs.size() && running.size() < at_once) start();
    if (running.empty()) continue;
    progress_.show(fmt::format("{}: {} of {} done, {}", what_, done, jobs.size(),
                               jobs[running.begin()->second.first].name));
    auto [child, result] = children_.wait();
    auto [index, engine] = std::move(running.at(child));
    running.erase(child);
    if (next < jobs.size()) start();  // before the result is looked at, which takes a while
    try {
      give(index, engine->finish(result));
    } catch (const Error& error) {
      give(index, failed_run(error.kind(), error.what()));
    }
  }
  progress_.end();
}

}  // namespace torchmem
