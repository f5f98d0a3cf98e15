#include "capture/module_path.h"

#include <gtest/gtest.h>

namespace torchmem::capture {
namespace {

TEST(ModulePath, JoinsTheNamesOfModules) {
  EXPECT_EQ(module_path({"TOP(ResNet)::forward", "layer1(Sequential)::forward", "0(BasicBlock)::forward"}),
            "layer1.0 (BasicBlock)");
}

TEST(ModulePath, PassesOverOwnMethodsAndFunctions) {
  EXPECT_EQ(module_path({"TOP(Net)::forward", "conv(Conv2d)::forward", "SELF(Conv2d)::_conv_forward",
                         "CALL_FUNCTION::relu()::relu"}),
            "conv (Conv2d)");
}

TEST(ModulePath, IsEmptyInTheRoot) {
  EXPECT_EQ(module_path({"TOP(Net)::forward"}), "");
  EXPECT_EQ(module_path({}), "");
}

}  // namespace
}  // namespace torchmem::capture
