#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "fake_core.h"
#include "nccl_functions.h"

// Ranks of one communicator, each in a process of its own (made by fork) or in a thread. What a rank EXPECTs
// counts for the test in both.
enum class Side { processes, threads };

class Ranks : public testing::Test {
 protected:
  struct Rank {
    int rank = 0;
    int ranks = 0;
    Communicator* communicator = nullptr;
    uint64_t memory = 0;  // where its device memory begins; no other rank's is near
  };
  using Body = std::function<void(Rank&)>;

  void SetUp() override;
  void TearDown() override;

  // Runs `body` once for each of the ranks (all of them, where `present` is not given) and waits for them.
  void run(int ranks, const Body& body, Side side = Side::processes, int present = -1);
  // What the ranks of the last run wrote to standard error (processes only).
  std::string said() const { return said_; }
  const std::string& folder() const { return folder_; }

 private:
  static void one(int rank, int ranks, const UniqueId& id, const Body& body);
  std::string folder_;
  std::string said_;
};

class EitherWay : public Ranks, public testing::WithParamInterface<Side> {
 protected:
  void run(int ranks, const Body& body) { Ranks::run(ranks, body, GetParam()); }
};

inline std::string side_name(const testing::TestParamInfo<Side>& info) {
  return info.param == Side::processes ? "processes" : "threads";
}
