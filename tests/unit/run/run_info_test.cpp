#include <gtest/gtest.h>

#include "run/run_info_json.h"

namespace torchmem {
namespace {

using nlohmann::json;

TEST(RunInfo, KnowsWhatIsRead) {
  const json told = json::parse(R"({
    "model": {"path": "m.pt", "parameters": {"bytes": 12, "tensors": 2}, "format_version": 3},
    "device": {"kind": "virtual", "profile": "h200", "verified": false, "total_bytes": 100},
    "arguments": {"mode": "train", "steps": 3, "sizes": {"N": [1, 2]}, "limit_bytes": null, "seed": 7},
    "levers": {"checkpoint": ["a", "b"], "inplace": {"rewritten": 2, "left": []}},
    "program": ["python3"]})");
  const RunInfo info = info_from_json(told);
  EXPECT_EQ(info.model.path, "m.pt");
  EXPECT_EQ(info.model.parameter_bytes, 12u);
  EXPECT_EQ(info.device.verified, false);
  EXPECT_FALSE(info.device.index);
  EXPECT_EQ(info.arguments.sizes.at("N"), (std::vector<uint64_t>{1, 2}));
  EXPECT_FALSE(info.arguments.limit_bytes);
  EXPECT_EQ(info.checkpointed.size(), 2u);
  EXPECT_EQ(info.made_inplace, 2u);
  EXPECT_EQ(info.rest["arguments"], json({{"limit_bytes", nullptr}, {"seed", 7}}));
  EXPECT_EQ(info_json(info).dump(), told.dump());
}

TEST(RunInfo, GivesBackWhateverItRead) {
  for (const char* text :
       {"{}", "null", "7", "[1]", R"({"model":"m"})", R"({"device":{},"model":{"path":7}})",
        R"({"device":{"index":-1,"name":"","total_bytes":1.5,"verified":1}})",
        R"({"arguments":{"sizes":{"N":[]},"steps":"3"},"levers":{"checkpoint":[1],"inplace":[]}})"}) {
    EXPECT_EQ(info_json(info_from_json(json::parse(text))).dump(), text);
  }
}

TEST(RunInfo, SaysWhatWasAdded) {
  RunInfo info = info_from_json({{"model", "odd"}});
  info.model.path = "m.pt";
  info.device.index = 1;
  EXPECT_EQ(info_json(info).dump(), R"({"device":{"index":1},"model":{"path":"m.pt"}})");
}

}  // namespace
}  // namespace torchmem
