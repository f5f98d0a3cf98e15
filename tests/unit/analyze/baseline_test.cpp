#include "torchmem/baseline.h"

#include <gtest/gtest.h>

#include "error_of.h"
#include "run/run_info_json.h"
#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

RunResult outcome_with(const json& facts) {
  RunResult outcome;
  outcome.run.info = torchmem::info_from_json(facts);
  outcome.peak = Peak{};
  outcome.peak->allocated = 1000;
  outcome.peak->reserved = 2000;
  outcome.categories.emplace().fill(100);
  outcome.modules = {{"layer1", 900}, {"", 100}};
  outcome.reserved_peak = ReservedPeak{{{"large pool", 2000}}, {{"activations", 1500}}, {}};
  Phase phase;
  phase.name = "load";
  phase.allocated = Usage{0, 100};
  outcome.run.phases.push_back(phase);
  phase.name = "forward";
  phase.iteration = 1;
  phase.micro = 0;
  phase.device_bytes = 5000;
  outcome.run.phases.push_back(phase);
  phase = {};
  phase.name = "optimizer";
  outcome.run.phases.push_back(phase);
  return outcome;
}

json facts() {
  return {{"software", {{"torch", "2.11.0"}}},
          {"device", {{"kind", "virtual"}, {"profile", "h200"}, {"index", 0}, {"total_bytes", 5}}},
          {"arguments",
           {{"steps", 3},
            {"jit", false},
            {"autocast", nullptr},
            {"inputs",
             {{"positional", {{{"tensor", {{"spec", "f32:2x3"}, {"shape", {2, 3}}}}}}},
              {"named", {{"batch", {{"dict", {{"ids", {{"tensor", {{"spec", "i64:4"}}}}}}}}}}}}}}}};
}

TEST(Baseline, IsShortAndReadsBack) {
  const Baseline baseline = baseline_of(outcome_with(facts()));
  EXPECT_EQ(baseline.arguments, json::parse(R"({"steps": 3,
      "inputs": {"positional": ["f32:2x3"], "named": {"batch": {"ids": "i64:4"}}}})"));
  EXPECT_EQ(baseline.device, (std::map<std::string, std::string>{{"kind", "virtual"}, {"profile", "h200"}}));
  EXPECT_EQ(read_baseline(baseline_to_json(baseline).dump(2), "b.json"), baseline);
  EXPECT_TRUE(compare_baselines(baseline, baseline, "b.json").empty());
}

// The file as it has always been.
TEST(Baseline, HasItsNumbersByTheirNames) {
  const json numbers = numbers_to_json(gate_numbers(outcome_with(facts())));
  EXPECT_EQ(numbers["peak"]["allocated_bytes"], 1000);
  EXPECT_EQ(numbers["peak"]["reserved_bytes"], 2000);
  EXPECT_FALSE(numbers["peak"].contains("device_bytes"));
  EXPECT_EQ(numbers["peak"]["by_category"]["activations"], 100);
  EXPECT_EQ(numbers["peak"]["modules"], json::parse(R"({"": 100, "layer1": 900})"));
  EXPECT_EQ(numbers["reserved_peak"],
            json::parse(R"({"pools": {"large pool": 2000}, "uses": {"activations": 1500}})"));
  EXPECT_EQ(numbers["phases"], json::parse(R"({"load": {"allocated_bytes": 100},
      "forward:1.0": {"allocated_bytes": 100, "device_bytes": 5000}})"));
  EXPECT_EQ(numbers_to_json({}), json::object());
}

// Of another torchmem's file: a number or a part that this one does not know, and texts that are none.
TEST(Baseline, WhatIsNotKnownIsLeftAlone) {
  json document = baseline_to_json(baseline_of(outcome_with(facts())));
  const Baseline before = read_baseline(document.dump(), "b.json");
  document["peak"]["pinned_bytes"] = 7;
  document["phases"]["load"]["pinned_bytes"] = 7;
  document["reserved_peak"]["streams"] = {{"0", 7}};
  document["more"] = "text";
  document["software"]["nccl"] = nullptr;
  EXPECT_EQ(read_baseline(document.dump(), "b.json"), before);
  document["software"]["cudnn"] = 9;
  document["device"]["index"] = 3;
  const Baseline other = read_baseline(document.dump(), "b.json");
  EXPECT_EQ(error_of([&] {
              compare_baselines(other, before, "b.json");
            }).find("the baseline b.json was made with another device.index: \"3\" there, null now."),
            0u);
}

TEST(Baseline, AnotherRunIsRefusedByField) {
  Baseline baseline = baseline_of(outcome_with(facts()));
  auto refusal = [&](const char* field, const json& value) {
    json other = facts();
    other[json::json_pointer(field)] = value;
    return error_of([&] { compare_baselines(baseline, baseline_of(outcome_with(other)), "b.json"); });
  };
  EXPECT_EQ(
      refusal("/arguments/steps", 4),
      "the baseline b.json was made with another arguments.steps: 3 there, 4 now. Compare like with like, "
      "or make it anew with --update.");
  EXPECT_NE(refusal("/arguments/jit", true).find("arguments.jit: null there, true now"), std::string::npos);
  EXPECT_NE(refusal("/device/profile", "t4").find("device.profile: \"h200\" there"), std::string::npos);
  EXPECT_NE(
      refusal("/arguments/inputs/positional/0/tensor/spec", "f32:2x4").find("arguments.inputs.positional"),
      std::string::npos);
  EXPECT_EQ(refusal("/arguments/dtype", nullptr), "");
  EXPECT_NE(refusal("/arguments/program", {"a"}).find("was made for a model, this is a program"),
            std::string::npos);
  EXPECT_EQ(refusal("/device/total_bytes", 6), "");
}

TEST(Baseline, OtherSoftwareIsAWarning) {
  Baseline baseline = baseline_of(outcome_with(facts()));
  json other = facts();
  other["software"]["torch"] = "2.12.0";
  other["software"]["cudnn"] = "9.20";
  std::vector<std::string> warnings = compare_baselines(baseline, baseline_of(outcome_with(other)), "b.json");
  EXPECT_EQ(warnings, (std::vector<std::string>{"the baseline was made with cudnn none, this is 9.20",
                                                "the baseline was made with torch 2.11.0, this is 2.12.0"}));
}

TEST(Baseline, OthersAreSaidToBeSo) {
  std::string good = baseline_to_json(baseline_of(outcome_with(facts()))).dump(2);
  auto refusal = [](const std::string& text) { return error_of([&] { read_baseline(text, "b.json"); }); };
  for (size_t size : {size_t{0}, size_t{1}, good.size() / 2, good.size() - 1})
    EXPECT_NE(refusal(good.substr(0, size)).find("is not JSON: damaged, truncated"), std::string::npos)
        << size;
  EXPECT_NE(refusal("[]").find("is not a baseline"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "torchmem.profile/1"})").find("found \"torchmem.profile/1\""),
            std::string::npos);
  EXPECT_NE(refusal(R"({"schema": 3})").find("is not a baseline"), std::string::npos);
  EXPECT_NE(refusal(R"({"schema": "torchmem.baseline/2"})").find("of a newer torchmem"), std::string::npos);
  auto broken = [&](const char* field, const json& value) {
    json document = json::parse(good);
    document[json::json_pointer(field)] = value;
    return refusal(document.dump());
  };
  for (const char* field :
       {"/peak", "/peak/allocated_bytes", "/peak/reserved_bytes", "/phases", "/phases/load", "/arguments",
        "/device", "/software", "/peak/by_category/activations"}) {
    EXPECT_NE(broken(field, "text").find("is damaged"), std::string::npos) << field;
    EXPECT_NE(broken(field, -1).find("is damaged"), std::string::npos) << field;
  }
  EXPECT_EQ(broken("/peak/allocated_bytes", 5), "");
  EXPECT_NE(broken("/peak/allocated_bytes", 1.5).find("is 1.5, not a whole number of bytes"),
            std::string::npos);
  EXPECT_NE(broken("/peak/modules/layer1", {{"a", 1}}).find("is damaged"), std::string::npos);
  EXPECT_NE(broken("/phases/load/allocated_bytes", {{"a", 1}}).find("is damaged"), std::string::npos);
}

// Copying, comparing and printing recurse.
TEST(Baseline, DeepNestingIsRefused) {
  json document = baseline_to_json(baseline_of(outcome_with(facts())));
  document["arguments"]["steps"] = "HERE";
  auto refusal = [&](size_t depth) {
    std::string text = document.dump();
    text.replace(text.find("\"HERE\""), 6, std::string(depth, '[') + std::string(depth, ']'));
    return error_of([&] { read_baseline(text, "b.json"); });
  };
  EXPECT_EQ(refusal(100), "");
  EXPECT_NE(refusal(300).find("nested more than 200 deep"), std::string::npos);
  EXPECT_NE(refusal(1'000'000).find("nested more than 200 deep"), std::string::npos);
}

TEST(Baseline, ForeignTextsAreShortAndPrintable) {
  Baseline baseline = baseline_of(outcome_with(facts()));
  const Baseline now = baseline;
  baseline.software["torch"] = "1\n::error::\x1b" + std::string(1000, 'x');
  std::vector<std::string> warnings = compare_baselines(baseline, now, "b.json");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("1\\n::error::\\u001bxxx"), std::string::npos);
  EXPECT_EQ(warnings[0].find('\n'), std::string::npos);
  EXPECT_LT(warnings[0].size(), 150u);
  baseline.arguments["a\nb"] = std::string(1000, 'x');
  std::string refusal = error_of([&] { compare_baselines(baseline, now, "b.json"); });
  EXPECT_NE(refusal.find("another arguments.a\\nb: \"xxx"), std::string::npos);
  EXPECT_LT(refusal.size(), 250u);
}

}  // namespace
}  // namespace torchmem
