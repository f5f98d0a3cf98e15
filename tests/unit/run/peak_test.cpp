#include "torchmem/peak.h"

#include <gtest/gtest.h>

#include "torchmem/run_file.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

constexpr uint64_t MiB = 1 << 20;

TEST(Peak, OfASnapshot) {
  std::optional<Peak> peak = find_peak(read_run_file(TEST_DATA "/P21_protocol_5.pickle"));
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->allocated, 82 * MiB);
  EXPECT_EQ(peak->reserved, 84 * MiB);
  EXPECT_FALSE(peak->phase);
  EXPECT_FALSE(peak->device_bytes);

  peak = find_peak(read_run_file(TEST_DATA "/P19.pickle"));
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->allocated, 13060 * MiB);
  EXPECT_EQ(peak->reserved, 16960 * MiB);
}

constexpr const char* two_phases =
    "torchmem-stream 1\nE segment_alloc 0 4096 2097152 0 1 -\nE alloc 0 4096 100 0 1 -\nB 1 512\n"
    "P {\"phase\":\"load\",\"events\":2,\"allocated_bytes\":{\"current\":512,\"peak\":512},"
    "\"reserved_bytes\":{\"current\":2097152,\"peak\":2097152},\"device_bytes\":3097152}\n"
    "E alloc 0 4608 1000 0 1 -\nB 2 1024\n"
    "E free_requested 0 4608 1000 0 1 -\nE free_completed 0 4608 1000 0 1 -\n";

TEST(Peak, OfPhases) {
  torchmem::Run run =
      read_stream(std::string(two_phases) +
                      "P {\"phase\":\"forward\",\"iteration\":0,\"events\":5,"
                      "\"allocated_bytes\":{\"current\":512,\"peak\":1536},"
                      "\"reserved_bytes\":{\"current\":2097152,\"peak\":4194304},\"device_bytes\":3097152}\n",
                  "s");
  std::optional<Peak> peak = find_peak(run);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->allocated, 1536u);
  EXPECT_EQ(peak->reserved, 4194304u);
  EXPECT_EQ(peak->device_bytes, 1000000u + 4194304u);
  EXPECT_EQ(peak->phase, "forward");
  EXPECT_EQ(peak->iteration, 0);
  ASSERT_TRUE(peak->point);
  EXPECT_EQ(peak->point->event, 2u);
  EXPECT_EQ(peak->point->totals.requested, 1100u);
  EXPECT_EQ(peak->point->largest_inactive, 2 * MiB - 1536);
}

TEST(Peak, OfAPhaseThatDidNotEnd) {
  torchmem::Run run = read_stream(
      std::string(two_phases) +
          "X {\"kind\":\"out_of_memory\",\"message\":\"m\",\"phase\":\"forward\",\"iteration\":0}\n",
      "s");
  std::optional<Peak> peak = find_peak(run);
  ASSERT_TRUE(peak);
  EXPECT_EQ(peak->allocated, 1536u);
  EXPECT_EQ(peak->phase, "forward");
  EXPECT_EQ(peak->iteration, 0);
}

TEST(Peak, OfNothing) {
  EXPECT_FALSE(find_peak(torchmem::Run()));
  EXPECT_FALSE(find_peak(read_stream("torchmem-stream 1\nP {\"phase\":\"load\"}\n", "s")));
}

}  // namespace
}  // namespace torchmem
