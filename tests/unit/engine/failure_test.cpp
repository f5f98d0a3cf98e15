#include "engine/failure.h"

#include <gtest/gtest.h>

namespace torchmem::engine {
namespace {

TEST(Failure, DecidesTheExitCode) {
  EXPECT_EQ(exit_code(FailureKind::out_of_memory), 1);
  EXPECT_EQ(exit_code(FailureKind::unavailable), 3);
  EXPECT_EQ(exit_code(FailureKind::bad_model), 2);
}

}  // namespace
}  // namespace torchmem::engine
