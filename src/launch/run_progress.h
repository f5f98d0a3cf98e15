// One line on a terminal while a run takes time: what it is at, and for how long already. Nothing at all
// elsewhere, nor in the first second.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace torchmem {

// The order in which the engine goes through a run (engine/profile.cpp), as far as it can be told from the
// phases that have ended.
struct RunOrder {
  bool trains = true;
  int64_t steps = 1;
  int64_t accumulate = 1;
};

struct PhaseUnderWay {
  std::string name = "load";
  std::optional<int64_t> iteration;
  std::optional<int64_t> micro;
};

// What comes after `ended`; nothing after the last phase, or after one that the order does not have.
std::optional<PhaseUnderWay> phase_after(const PhaseUnderWay& ended, const RunOrder& order);

// "backward of iteration 1 (3 in all)": iterations count from 0, as in the reports.
std::string place_in_run(const PhaseUnderWay& phase, const RunOrder& order);

class RunProgress {
 public:
  RunProgress(const std::string& what, bool is_quiet);
  ~RunProgress() { end(); }
  RunProgress(const RunProgress&) = delete;
  RunProgress& operator=(const RunProgress&) = delete;

  // From here on the place is told by the phases in this event stream, which need not exist yet.
  void follow(const std::filesystem::path& stream, const RunOrder& order);
  // To be called every now and then.
  void update();
  // Takes the line away.
  void end();

 private:
  void read_phases();

  std::string what_;
  bool wanted_ = false;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::filesystem::path path_;
  std::ifstream stream_;
  std::string line_;  // so far, without its end
  RunOrder order_;
  std::optional<PhaseUnderWay> under_way_;
};

}  // namespace torchmem
