#include "request/scenario_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "request/scenario_loops.h"
#include "request/scenario_names.h"
#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

const std::string path = "s.json";
const std::map<std::string, std::string> none;

template <class Act>
std::string failure_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "";
}

std::vector<std::string> values(const json& loop) {
  return loop_values(ScenarioFields(path, none), loop, "actions[0]");
}

TEST(ScenarioLoops, GoThroughNumbersAndTexts) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(values({{"repeat", 3}}), (Texts{"0", "1", "2"}));
  EXPECT_EQ(values({{"repeat", {{"from", 5}, {"to", 1}, {"step", 2}}}}), (Texts{"5", "3", "1"}));
  EXPECT_EQ(values({{"repeat", {"a", 7}}}), (Texts{"a", "7"}));
  EXPECT_EQ(values({{"repeat", {3, 9, 5}}, {"pad", "max"}}), (Texts{"9", "9", "9"}));
  EXPECT_EQ(values({{"repeat", {3, 9, 8}}, {"bucket", 8}}), (Texts{"8", "16", "8"}));
}

TEST(ScenarioLoops, SayWhatIsWrong) {
  EXPECT_EQ(failure_of([] {
              values({{"repeat", {3, 9}}, {"pad", 8}});
            }),
            "scenario s.json, at actions[0].pad: the longest is 9, which is more than 8");
  EXPECT_EQ(failure_of([] {
              values({{"repeat", {"a"}}, {"pad", 8}});
            }),
            "scenario s.json, at actions[0].pad: the values must be whole numbers");
  EXPECT_EQ(failure_of([] {
              values({{"repeat", json::array()}});
            }),
            "scenario s.json, at actions[0].repeat: there is nothing to repeat with");
}

TEST(ScenarioFields, PutVariablesIntoTexts) {
  const std::map<std::string, std::string> given = {{"n", "8"}};
  ScenarioFields fields(path, given);
  fields.read_variables({{"variables", {{"n", 4}, {"m", "x"}}}});
  EXPECT_EQ(fields.replaced("{m}:{n}", "here"), "x:8");
  EXPECT_EQ(failure_of([&] { fields.replaced("{k}", "here"); }),
            "scenario s.json, at here: '{k}' names no variable behind '{'; there are m, n");
}

TEST(ScenarioNames, AreOfWhatWasMadeAndNotReleased) {
  const ScenarioFields fields(path, none);
  ScenarioNames names(fields);
  EXPECT_EQ(names.made({{"as", "x"}}, "a", Thing::value), "x");
  EXPECT_EQ(names.made({{"as", "x"}}, "a", Thing::value), "x");
  EXPECT_EQ(names.used("x", "a", {Thing::value}), "x");
  EXPECT_EQ(failure_of([&] {
              names.made({{"as", "x"}}, "a", Thing::model);
            }),
            "scenario s.json, at a.as: 'x' is a value already");
  EXPECT_EQ(failure_of([&] { names.used("x", "a", {Thing::optimizer}); }),
            "scenario s.json, at a: 'x' is a value, but an optimizer is expected");
  EXPECT_EQ(failure_of([&] { names.list("x", "a.in"); }),
            "scenario s.json, at a.in: 'x' is a value, but a list is expected");
  names.release("x");
  EXPECT_EQ(failure_of([&] { names.used("x", "a", {Thing::value}); }),
            "scenario s.json, at a: there is no value 'x' at this point");
}

TEST(ScenarioFile, UnrollsLoops) {
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / ("unrolls" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << R"({"actions": [
    {"repeat": 2, "as": "i", "do": [{"alloc": "{n}MiB", "as": "w{i}"}]}, {"mark": "end"}],
    "variables": {"n": 3}})";
  const ScenarioFile read = read_scenario_file(file.string(), {{"n", "5"}});
  std::filesystem::remove(file);
  ASSERT_EQ(read.scenario.steps.size(), 3u);
  EXPECT_EQ(read.scenario.steps[1].place, "actions[0].do[0]");
  EXPECT_EQ(read.scenario.steps[1].loop, "i=1");
  EXPECT_EQ(read.scenario.steps[1].action["as"], "w1");
  EXPECT_EQ(read.scenario.steps[1].action["bytes"], 5u << 20);
  EXPECT_NE(read.scenario.steps[0].lists, read.scenario.steps[1].lists);
  EXPECT_EQ(read.scenario.steps[2].mark, "end");
}

}  // namespace
}  // namespace torchmem
