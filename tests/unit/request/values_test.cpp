#include "request/values.h"

#include <gtest/gtest.h>

namespace torchmem {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

TEST(Values, EnvironmentSaysAll) {
  Variables usual = {
      {"TORCHMEM_VALUES", "small"}, {"TORCHMEM_ASSUME", ""}, {"TORCHMEM_MAX_ASSUMED_READS", ""}};
  EXPECT_EQ(value_environment({}), usual);
  Variables given = {{"TORCHMEM_VALUES", "none"},
                     {"TORCHMEM_ASSUME", R"([["a.py:1","true"],["aten::item","nan,0"]])"},
                     {"TORCHMEM_MAX_ASSUMED_READS", "7"}};
  EXPECT_EQ(value_environment({"none", AssumedValues{{"a.py:1", "true"}, {"aten::item", "nan,0"}}, 7}),
            given);
}

}  // namespace
}  // namespace torchmem
