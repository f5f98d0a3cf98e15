#include "engine/failure.h"

#include <gtest/gtest.h>

namespace torchmem::engine {
namespace {

TEST(Failure, DecidesTheExitCode) {
  EXPECT_EQ(exit_code(FailureKind::kOutOfMemory), 1);
  EXPECT_EQ(exit_code(FailureKind::kUnavailable), 3);
  EXPECT_EQ(exit_code(FailureKind::kBadModel), 2);
}

}  // namespace
}  // namespace torchmem::engine
