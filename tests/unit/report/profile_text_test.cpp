#include <gtest/gtest.h>

#include "torchmem/report.h"
#include "torchmem/run_file.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

std::string text_of(const torchmem::Run& run, const TextStyle& style = {}) {
  return profile_text(Analysis(run, run.main_device()), style);
}

std::string snapshot_text_of(const torchmem::Run& run, const std::string& name, const TextStyle& style = {}) {
  return snapshot_text(run, name, analyse_devices(run), style);
}

void expect_fits(const std::string& text, size_t width = 80) {
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  for (size_t start = 0; start < text.size();) {
    size_t end = text.find('\n', start);
    ASSERT_NE(end, std::string::npos) << "the last line does not end";
    EXPECT_LE(end - start, width) << text.substr(start, end - start);
    start = end + 1;
  }
}

TEST(ProfileText, OfNothing) {
  torchmem::Run run;
  run.is_ours = true;
  expect_fits(text_of(run));
  EXPECT_EQ(text_of(run),
            "fidelity: complete, nothing was assumed; this profile was not verified against a\ndevice\n");
}

// Totals of 0 divide nothing; long names keep within a terminal's width, and are whole elsewhere.
TEST(ProfileText, FitsWhateverTheRunHolds) {
  std::string name(300, 'm');
  torchmem::Run run = read_stream(
      "torchmem-stream 1\nM {\"model\":{\"path\":\"" + name +
          "\"},\"device\":{\"kind\":\"virtual\",\"profile\":\"" + name + "\",\"chosen\":\"" + name +
          "\"}}\n" +
          "P {\"phase\":\"load\",\"events\":0,\"allocated_bytes\":{\"current\":0,\"peak\":0},"
          "\"reserved_bytes\":{\"current\":0,\"peak\":0},\"duration_ms\":0}\n" +
          "P {\"phase\":\"" + name +
          "\",\"iteration\":123456,\"micro\":77,\"events\":0,"
          "\"allocated_bytes\":{\"current\":18446744073709551615,\"peak\":18446744073709551615}}\n" +
          "V {\"kind\":\"assumed_value\",\"name\":\"" + name + "\",\"line\":\"" + name + "\",\"module\":\"" +
          name + "\",\"bytes\":18446744073709551615}\n" + "X {\"kind\":\"model_failed\",\"message\":\"" +
          name + "\"}\n",
      "s");
  for (size_t width : {size_t{40}, size_t{80}, size_t{120}}) {
    TextStyle style;
    style.width = width;
    style.cuts = true;
    expect_fits(text_of(run, style), width);
    expect_fits(snapshot_text_of(run, name, style), width);
    expect_fits(model_text(run, style), width);
  }
  EXPECT_NE(text_of(run).find(name + " "), std::string::npos);
}

TEST(ProfileText, PhasesWithoutTraceStillHaveAPeak) {
  torchmem::Run run = read_stream(
      "torchmem-stream 1\nP "
      "{\"phase\":\"forward\",\"iteration\":0,\"allocated_bytes\":{\"current\":1,\"peak\":2048}}\n",
      "s");
  std::string text = text_of(run);
  EXPECT_NE(text.find("peak allocated  2.00 KiB (2,048 B), in forward of iteration 0\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("peak reserved"), std::string::npos);
}

TEST(SnapshotText, OfFilesOfAllKinds) {
  expect_fits(snapshot_text_of(read_run_file(TEST_DATA "/P19.pickle"), "P19.pickle"));
  expect_fits(snapshot_text_of(torchmem::Run(), "empty.pickle"));
}

}  // namespace
}  // namespace torchmem
