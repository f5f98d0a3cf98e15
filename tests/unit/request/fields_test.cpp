#include "request/fields.h"

#include <gtest/gtest.h>

#include <set>

#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

// Another value than the default, of each kind of member.
struct Change {
  const RequestField& field;
  RunRequest& request;
  void operator()(bool RunRequest::*member) const { request.*member = !(request.*member); }
  void operator()(int RunRequest::*member) const { request.*member += 5; }
  void operator()(std::string RunRequest::*member) const {
    request.*member = field.choices.empty() ? "other" : field.choices.back();
  }
  void operator()(std::vector<std::string> RunRequest::*member) const { request.*member = {"a", "b"}; }
  void operator()(std::optional<std::string> RunRequest::*member) const { request.*member = "f16"; }
  void operator()(std::optional<uint64_t> RunRequest::*member) const { request.*member = 7; }
  void operator()(Mode RunRequest::*member) const { request.*member = Mode::inference; }
  void operator()(Recording RunRequest::*member) const { request.*member = Recording::off; }
  void operator()(Arguments RunRequest::*member) const { (request.*member).named["x"] = {{"scalar", 1}}; }
  void operator()(std::vector<Arguments> RunRequest::*member) const { (request.*member).resize(2); }
  void operator()(std::optional<Sizes> RunRequest::*member) const { request.*member = Sizes{"S", {1, 2}}; }
  void operator()(std::optional<AssumedValues> RunRequest::*member) const {
    request.*member = AssumedValues{{"a.py:1", "true"}};
  }
  void operator()(json RunRequest::*member) const { request.*member = json::array({1}); }
};

RunRequest smallest() {
  RunRequest request;
  request.model = "m.pt";
  request.stream = "s";
  request.mode = Mode::inference;  // which inference_mode needs
  return request;
}

// One row is enough for a field to go to the engine and back, and into what reports and baselines tell.
TEST(RequestFields, EachGoesToTheEngineAndBackAndIsToldWhereItShould) {
  std::set<std::string> keys;
  for (const RequestField& field : request_fields()) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key << " is there twice";
    if (std::string(field.key) == "command" || std::string(field.key) == "mode") continue;
    RunRequest request = smallest();
    const json before = request_json(request);
    std::visit(Change{field, request}, field.member);
    const json sent = request_json(request);
    EXPECT_NE(sent, before) << field.key;
    EXPECT_EQ(request_json(read_request(sent)), sent) << field.key;
    EXPECT_EQ(arguments_of(request).contains(field.key), field.is_told) << field.key;
  }
}

TEST(RequestFields, OfEveryCommandItsOwn) {
  RunRequest request = smallest();
  EXPECT_TRUE(request_json(request).contains("optimizer"));
  request.command = "inspect";
  EXPECT_FALSE(request_json(request).contains("optimizer"));
  EXPECT_TRUE(request_json(request).contains("method"));
  request.command = "scenario";
  EXPECT_FALSE(request_json(request).contains("method"));
  EXPECT_FALSE(arguments_of(request).contains("alloc_conf"));
  request.alloc_conf = "max_split_size_mb:20";
  EXPECT_EQ(arguments_of(request)["alloc_conf"], "max_split_size_mb:20");
}

TEST(RequestFields, OptionsAreWhole) {
  for (const RequestField& field : request_fields()) {
    if (!field.flag) continue;
    EXPECT_TRUE(field.group) << field.key;
    EXPECT_FALSE(field.help.empty()) << field.key;
  }
}

TEST(RequestFields, ChoicesAreNamed) {
  for (const RequestField& field : request_fields()) {
    if (field.choices.empty()) continue;
    for (const std::string& choice : field.choices) check_choice(field, choice);
    try {
      check_choice(field, "fly");
      ADD_FAILURE() << field.key;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(field.choices.front()), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace torchmem
