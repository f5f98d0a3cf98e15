#include "launch/run_progress.h"

#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "report/style.h"
#include "report/text.h"

namespace torchmem {

using nlohmann::json;

namespace {

constexpr std::chrono::seconds first_shown(1);

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return report_width;
  return size.ws_col;
}

std::string time_text(std::chrono::steady_clock::duration elapsed) {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(elapsed).count();
  return seconds < 60 ? fmt::format("{} s", seconds) : fmt::format("{} min {} s", seconds / 60, seconds % 60);
}

std::optional<int64_t> number(const json& record, const char* name) {
  auto found = record.find(name);
  if (found == record.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::optional<PhaseUnderWay> ended_phase(const std::string& line) {
  json record = json::parse(line.begin() + 2, line.end(), nullptr, /*allow_exceptions=*/false);
  if (!record.is_object() || !record.contains("phase") || !record["phase"].is_string()) return std::nullopt;
  return PhaseUnderWay{record["phase"].get<std::string>(), number(record, "iteration"),
                       number(record, "micro")};
}

}  // namespace

std::optional<PhaseUnderWay> phase_after(const PhaseUnderWay& ended, const RunOrder& order) {
  int64_t iteration = ended.iteration.value_or(0);
  auto next = [&](const char* name) { return PhaseUnderWay{name, iteration, ended.micro}; };
  auto next_iteration = [&](int64_t which) -> std::optional<PhaseUnderWay> {
    if (which >= order.steps) return std::nullopt;
    return PhaseUnderWay{"input", which,
                         order.trains && order.accumulate > 1 ? std::optional<int64_t>(0) : std::nullopt};
  };
  if (ended.name == "load") return next_iteration(0);
  if (ended.name == "input") return next("forward");
  if (!order.trains) {
    if (ended.name == "forward") return next("end");
    return ended.name == "end" ? next_iteration(iteration + 1) : std::nullopt;
  }
  if (ended.name == "forward") return next("loss");
  if (ended.name == "loss") return next("backward");
  if (ended.name == "backward") {
    int64_t micro = ended.micro.value_or(0) + 1;
    if (micro < order.accumulate) return PhaseUnderWay{"input", iteration, micro};
    return PhaseUnderWay{"optimizer", iteration, std::nullopt};
  }
  if (ended.name == "optimizer") return next("zero_grad");
  return ended.name == "zero_grad" ? next_iteration(iteration + 1) : std::nullopt;
}

std::string place_in_run(const PhaseUnderWay& phase, const RunOrder& order) {
  if (!phase.iteration) return phase.name;
  const std::string micro =
      phase.micro ? fmt::format(", micro-batch {} of {}", *phase.micro, order.accumulate) : "";
  return fmt::format("{} of iteration {}{} ({} in all)", phase.name, *phase.iteration, micro, order.steps);
}

RunProgress::RunProgress(const std::string& what, bool is_quiet) : what_(printable(what)) {
  const char* terminal = std::getenv("TERM");
  bool is_dumb = terminal && std::strcmp(terminal, "dumb") == 0;
  wanted_ = !is_quiet && isatty(STDERR_FILENO) != 0 && !is_dumb;
}

void RunProgress::follow(const std::filesystem::path& stream, const RunOrder& order) {
  path_ = stream;
  order_ = order;
  under_way_ = PhaseUnderWay();
}

void RunProgress::read_phases() {
  if (!stream_.is_open()) stream_.open(path_, std::ios::binary);
  if (!stream_.is_open()) return;
  stream_.clear();  // of the end that it came to the last time
  std::string part;
  while (std::getline(stream_, part)) {
    line_ += part;
    if (stream_.eof()) break;  // the writer is within this line
    if (line_.starts_with("P ")) {
      if (std::optional<PhaseUnderWay> ended = ended_phase(line_)) under_way_ = phase_after(*ended, order_);
    }
    line_.clear();
  }
}

void RunProgress::update() {
  auto elapsed = std::chrono::steady_clock::now() - start_;
  if (!wanted_ || elapsed < first_shown) return;
  read_phases();
  std::string end = ", " + time_text(elapsed);
  if (under_way_) end = ": " + place_in_run(*under_way_, order_) + end;
  size_t room = terminal_width() - 1;
  std::string line =
      end.size() + 20 < room ? shorten(what_, room - end.size()) + end : shorten(what_ + end, room);
  std::cerr << "\r" << line << "\033[K" << std::flush;
  shown_ = true;
}

void RunProgress::end() {
  if (shown_) std::cerr << "\r\033[K" << std::flush;
  shown_ = false;
}

}  // namespace torchmem
