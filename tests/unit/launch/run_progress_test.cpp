#include "launch/run_progress.h"

#include <gtest/gtest.h>

namespace torchmem {
namespace {

// The places of a whole run, in order.
std::vector<std::string> places(const RunOrder& order) {
  std::vector<std::string> result;
  for (std::optional<PhaseUnderWay> phase = PhaseUnderWay(); phase; phase = phase_after(*phase, order)) {
    std::string text = phase->name;
    if (phase->iteration) text += ":" + std::to_string(*phase->iteration);
    if (phase->micro) text += "." + std::to_string(*phase->micro);
    result.push_back(text);
  }
  return result;
}

using Places = std::vector<std::string>;

TEST(RunProgress, FollowsTheOrderOfTraining) {
  EXPECT_EQ(places({true, 2, 1}),
            (Places{"load", "input:0", "forward:0", "loss:0", "backward:0", "optimizer:0", "zero_grad:0",
                    "input:1", "forward:1", "loss:1", "backward:1", "optimizer:1", "zero_grad:1"}));
}

TEST(RunProgress, FollowsMicroBatches) {
  EXPECT_EQ(places({true, 1, 2}),
            (Places{"load", "input:0.0", "forward:0.0", "loss:0.0", "backward:0.0", "input:0.1",
                    "forward:0.1", "loss:0.1", "backward:0.1", "optimizer:0", "zero_grad:0"}));
}

TEST(RunProgress, FollowsInference) {
  EXPECT_EQ(places({false, 2, 1}),
            (Places{"load", "input:0", "forward:0", "end:0", "input:1", "forward:1", "end:1"}));
}

TEST(RunProgress, SaysNothingOfAPhaseThatItDoesNotKnow) {
  EXPECT_FALSE(phase_after({"warm-up", 0, std::nullopt}, {true, 2, 1}));
}

TEST(RunProgress, NamesAPlace) {
  EXPECT_EQ(place_in_run({"load", std::nullopt, std::nullopt}, {true, 3, 1}), "load");
  EXPECT_EQ(place_in_run({"backward", 1, std::nullopt}, {true, 3, 1}), "backward of iteration 1 (3 in all)");
  EXPECT_EQ(place_in_run({"loss", 0, 1}, {true, 3, 4}), "loss of iteration 0, micro-batch 1 of 4 (3 in all)");
}

}  // namespace
}  // namespace torchmem
