#include "cli/value_options.h"

#include <gtest/gtest.h>

namespace torchmem::cli {
namespace {

using nlohmann::json;
using Variables = std::vector<std::pair<std::string, std::string>>;

// What is as it is without the option leaves no trace in a request, and so none in a baseline.
TEST(ValueOptions, SettingsOfNothing) {
  EXPECT_EQ(value_settings({}),
            json::parse(R"({"values": null, "assume": null, "max_assumed_reads": null})"));
  EXPECT_EQ(value_settings({"all", "", 7}),
            json::parse(R"({"values": "all", "assume": null, "max_assumed_reads": 7})"));
}

TEST(ValueOptions, EnvironmentSaysAll) {
  Variables usual = {
      {"TORCHMEM_VALUES", "small"}, {"TORCHMEM_ASSUME", ""}, {"TORCHMEM_MAX_ASSUMED_READS", ""}};
  EXPECT_EQ(value_environment(value_settings({})), usual);
  EXPECT_EQ(value_environment({{"command", "inspect"}}), usual) << "a request without settings";
  Variables given = {{"TORCHMEM_VALUES", "none"},
                     {"TORCHMEM_ASSUME", R"([["a.py:1","true"],["aten::item","nan,0"]])"},
                     {"TORCHMEM_MAX_ASSUMED_READS", "7"}};
  json settings = {{"values", "none"}, {"max_assumed_reads", 7}};
  settings["assume"] = json::parse(given[1].second);
  EXPECT_EQ(value_environment(settings), given);
}

}  // namespace
}  // namespace torchmem::cli
