#include "request/run_request.h"

#include <gtest/gtest.h>

#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

json smallest() { return {{"command", "profile"}, {"model", "m.pt"}, {"stream", "s"}}; }

std::string failure_of(const json& object) {
  try {
    read_request(object);
  } catch (const Error& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::bad_usage);
    return failure.what();
  }
  return "";
}

TEST(Request, HasTheDefaultsOfARun) {
  const RunRequest request = read_request(smallest());
  EXPECT_EQ(request.mode, Mode::train);
  EXPECT_EQ(request.method, "forward");
  EXPECT_EQ(request.optimizer, "adamw");
  EXPECT_EQ(request.optimizer_form, "loop");
  EXPECT_EQ(request.steps, 3);
  EXPECT_FALSE(request.autocast);
  EXPECT_FALSE(request.limit_bytes);
}

TEST(Request, NullsAreDefaults) {
  json object = smallest();
  object["loss_on"] = nullptr;
  object["alloc_conf"] = nullptr;
  const RunRequest request = read_request(object);
  EXPECT_FALSE(request.loss_on);
  EXPECT_FALSE(request.alloc_conf);
}

TEST(Request, ReadsWhatTheCommandLineWrites) {
  json object = smallest();
  object["device"] = {{"kind", "virtual"}, {"index", 1}};
  object["inputs"] = {{"positional", json::array({json{{"scalar", 3}}})},
                      {"named", {{"n", {{"string", "x"}}}}}};
  object["mode"] = "grad-forward";
  object["limit_bytes"] = 123456789012;
  object["log_level"] = "debug";
  const RunRequest request = read_request(object);
  EXPECT_EQ(request.device_kind, "virtual");
  EXPECT_EQ(request.device_index, 1);
  ASSERT_EQ(request.inputs.positional.size(), 1u);
  EXPECT_EQ(request.inputs.named.at("n")["string"], "x");
  EXPECT_EQ(request.mode, Mode::grad_forward);
  EXPECT_EQ(request.limit_bytes, 123456789012u);
  EXPECT_TRUE(request.is_debug());
}

TEST(Request, NamesTheFieldThatIsWrong) {
  json object = smallest();
  object["steps"] = "three";
  EXPECT_NE(failure_of(object).find("\"steps\": \"three\""), std::string::npos);
  object = smallest();
  object["mode"] = "fly";
  EXPECT_NE(failure_of(object).find("fly"), std::string::npos);
  object = smallest();
  object.erase("model");
  EXPECT_NE(failure_of(object).find("\"model\""), std::string::npos);
  object = smallest();
  object["steps"] = 0;
  EXPECT_NE(failure_of(object), "");
  EXPECT_NE(failure_of(json::array()), "");
}

TEST(Request, HasNothingThatIsNoneOfAFieldsChoices) {
  for (const char* key : {"loss", "autocast", "dtype"}) {
    json object = smallest();
    object[key] = "fly";
    EXPECT_NE(failure_of(object).find("--" + std::string(key) + " fly: expected one of "), std::string::npos)
        << key;
  }
}

TEST(Request, HasSizesOfOneDimension) {
  json object = smallest();
  object["sizes"] = {{"S", {1, 2}}};
  EXPECT_EQ(read_request(object).sizes->dimension, "S");
  for (const json& wrong : {json::object(), json::array(), json{{"S", {1}}, {"T", {2}}}}) {
    object["sizes"] = wrong;
    EXPECT_NE(failure_of(object).find("\"sizes\": " + wrong.dump()), std::string::npos);
  }
}

}  // namespace
}  // namespace torchmem
