#include "report/remedy.h"

#include <gtest/gtest.h>

#include "run/phase_json.h"

namespace torchmem {
namespace {

RunError told(const char* remedy, const char* op = "other::nms") {
  return error_from_json(
      {{"kind", "bad_model"}, {"message", "It failed."}, {"remedy", remedy}, {"detail", {{"operator", op}}}});
}

std::string message(RunError error, Asked asked) {
  add_remedy(error, asked);
  return error.message;
}

TEST(Remedy, IsInTheWordsOfWhatWasAsked) {
  EXPECT_EQ(message(told("choose_method"), Asked::by_options), "It failed. Choose one with --method NAME.");
  EXPECT_EQ(message(told("choose_method"), Asked::by_scenario), "It failed. Choose one with \"method\".");
  EXPECT_NE(message(told("choose_loss"), Asked::by_options).find("--loss-on"), std::string::npos);
  EXPECT_NE(message(told("choose_loss"), Asked::by_scenario).find("\"on\""), std::string::npos);
}

TEST(Remedy, NamesTheLibraryOfAKnownOperator) {
  EXPECT_EQ(message(told("give_library"), Asked::by_options),
            "It failed.\nIt comes from an extension library: give that library with --library FILE.so.");
  EXPECT_NE(message(told("give_library", "torchvision::nms"), Asked::by_scenario).find("torchvision/_C.so"),
            std::string::npos);
}

TEST(Remedy, IsAddedOnceAndIsNoPartOfTheJson) {
  RunError error = told("choose_method");
  EXPECT_FALSE(error_to_json(error).contains("remedy"));
  add_remedy(error, Asked::by_options);
  const std::string once = error.message;
  add_remedy(error, Asked::by_options);
  EXPECT_EQ(error.message, once);
}

TEST(Remedy, OfANewerEngineIsLeftOut) {
  EXPECT_EQ(message(told("call_home"), Asked::by_options), "It failed.");
}

}  // namespace
}  // namespace torchmem
