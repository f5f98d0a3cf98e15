#include <gtest/gtest.h>

#include <fstream>

#include "torchmem/report.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

using nlohmann::json;

json flatten(const json& nested, const std::string& prefix = "") {
  json flat = json::object();
  for (const auto& [name, value] : nested.items()) {
    if (value.is_object()) {
      flat.update(flatten(value, prefix + name + "."));
    } else {
      flat[prefix + name] = value;
    }
  }
  return flat;
}

// tests/data/memory_summary.json: tables that PyTorch 2.11's own code made of these statistics.
TEST(MemorySummary, IsWhatPyTorchPrints) {
  std::ifstream in(TEST_DATA "/memory_summary.json");
  json cases = json::parse(in);
  ASSERT_FALSE(cases.empty());
  for (const json& one : cases) {
    EXPECT_EQ(memory_summary(one["statistics"], 3), one["expected"].get<std::string>());
    EXPECT_EQ(memory_summary(flatten(one["statistics"]), 3), one["expected"].get<std::string>());
  }
}

TEST(MemorySummary, AbbreviatedLeavesThePoolsOut) {
  std::ifstream in(TEST_DATA "/memory_summary.json");
  json cases = json::parse(in);
  std::string text = memory_summary(cases[1]["statistics"], 0, true);
  EXPECT_EQ(text.find("large pool"), std::string::npos);
  EXPECT_NE(text.find("Allocated memory"), std::string::npos);
}

TEST(MemorySummary, WhatIsMissingIsNamed) {
  try {
    memory_summary(json{{"num_ooms", 0}}, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'num_alloc_retries'"), std::string::npos) << error.what();
  }
}

// Peaks of phases are their own; the table's are the whole run's.
TEST(MemorySummary, PeaksAreTheWholeRuns) {
  std::ifstream in(TEST_DATA "/memory_summary.json");
  json statistics = json::parse(in)[1]["statistics"];
  torchmem::Run run;
  for (uint64_t peak : {5u, 900u, 7u}) {
    Phase phase;
    phase.name = "forward";
    phase.statistics = statistics;
    phase.statistics["allocated_bytes"]["all"]["peak"] = peak;
    phase.statistics["allocated_bytes"]["all"]["current"] = peak;
    run.phases.push_back(phase);
  }
  statistics["allocated_bytes"]["all"]["peak"] = 900;
  statistics["allocated_bytes"]["all"]["current"] = 7;
  EXPECT_EQ(memory_summary(run), memory_summary(statistics, 0));
}

}  // namespace
}  // namespace torchmem
