#include "torchmem/point.h"

#include <gtest/gtest.h>

#include "recorder.h"
#include "torchmem/block_history.h"
#include "torchmem/run_file.h"

namespace torchmem {
namespace {

using test::MiB;
using test::Recorder;
using test::refusal;

// Two iterations, the first of two micro-batches; the peak of allocated in the forward of the second, that of
// reserved in the first's.
Recorder two_iterations() {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 512, 512);
  recorder.phase("load");  // 2
  recorder.segment(8 * MiB, 20 * MiB);
  recorder.phase("forward", 0, 0);  // 3
  recorder.event(Action::segment_free, 8 * MiB, 20 * MiB);
  recorder.phase("forward", 0, 1);   // 4
  recorder.phase("optimizer", 0);    // 4
  recorder.alloc(4608, 1024, 1024);  // the peak
  recorder.free(4608, 1024);
  recorder.phase("forward", 1, 0);  // 7
  return recorder;
}

TEST(Point, OfThePeaks) {
  Recorder recorder = two_iterations();
  BlockHistory history(recorder.run, 0);
  Point point = find_point(recorder.run, history, 0, "peak");
  EXPECT_EQ(point.name, "peak");
  EXPECT_EQ(point.events, 5u);
  EXPECT_EQ(point.phase, "forward");
  EXPECT_EQ(point.iteration, 1);
  point = find_point(recorder.run, history, 0, "reserved-peak");
  EXPECT_EQ(point.events, 3u);
  EXPECT_EQ(point.phase, "forward");
  EXPECT_EQ(point.iteration, 0);
  EXPECT_EQ(find_point(recorder.run, history, 0, "end").events, 7u);
}

TEST(Point, OfEqualPeaksTheFirst) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  for (int twice = 0; twice < 2; ++twice) {
    recorder.alloc(4096, 1024, 1024);
    recorder.free(4096, 1024);
  }
  recorder.event(Action::segment_free, 4096, 2 * MiB);
  recorder.segment(4096, 2 * MiB);
  recorder.phase("forward", 0);
  BlockHistory history(recorder.run, 0);
  EXPECT_EQ(find_point(recorder.run, history, 0, "peak").events, 2u);
  EXPECT_EQ(find_point(recorder.run, history, 0, "reserved-peak").events, 1u);
}

TEST(Point, OfAPhasesEnd) {
  Recorder recorder = two_iterations();
  BlockHistory history(recorder.run, 0);
  auto events = [&](const char* name) { return find_point(recorder.run, history, 0, name).events; };
  EXPECT_EQ(events("load"), 2u);
  EXPECT_EQ(events("forward:0.0"), 3u);
  EXPECT_EQ(events("forward:0.1"), 4u);
  EXPECT_EQ(events("forward:0"), 4u);  // the iteration's last micro-batch
  EXPECT_EQ(events("forward:1"), 7u);
  Point point = find_point(recorder.run, history, 0, "forward:0.0");
  EXPECT_EQ(point.phase, "forward");
  EXPECT_EQ(point.iteration, 0);
  EXPECT_FALSE(find_point(recorder.run, history, 0, "load").iteration);
}

// An inference's phase "end" is one by its iteration.
TEST(Point, APhaseMayBeCalledEnd) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  recorder.phase("end", 0);
  recorder.alloc(4096, 512, 512);
  BlockHistory history(recorder.run, 0);
  EXPECT_EQ(find_point(recorder.run, history, 0, "end:0").events, 1u);
  EXPECT_EQ(find_point(recorder.run, history, 0, "end").events, 2u);
}

TEST(Point, OfAPhaseThatDidNotEnd) {
  Recorder recorder = two_iterations();
  recorder.alloc(4608, 4096, 4096);
  recorder.run.error = RunError{ErrorKind::out_of_memory, "m", "backward", 1, {}};
  BlockHistory history(recorder.run, 0);
  Point point = find_point(recorder.run, history, 0, "peak");
  EXPECT_EQ(point.events, 8u);
  EXPECT_EQ(point.phase, "backward");
  EXPECT_EQ(point.iteration, 1);
}

TEST(Point, AnErrorNamesThePhasesThereAre) {
  Recorder recorder = two_iterations();
  BlockHistory history(recorder.run, 0);
  for (const char* name : {"forward:2", "forward", "forward:0.2", "", "peaks", "load:0"}) {
    auto [kind, message] = refusal([&] { find_point(recorder.run, history, 0, name); });
    EXPECT_EQ(kind, ErrorKind::bad_usage);
    EXPECT_EQ(message, "there is no moment '" + std::string(name) +
                           "' in this run. Expected peak, reserved-peak, end, or a phase's end: load, "
                           "forward:0.0 to forward:1.0, optimizer:0");
  }
}

TEST(Point, ASnapshotHasNoPhases) {
  torchmem::Run run = read_run_file(TEST_DATA "/P21_protocol_5.pickle");
  BlockHistory history(run, 0);
  Point point = find_point(run, history, 0, "peak");
  EXPECT_FALSE(point.phase);
  EXPECT_FALSE(point.iteration);
  auto [kind, message] = refusal([&] { find_point(run, history, 0, "forward:0"); });
  EXPECT_EQ(kind, ErrorKind::bad_usage);
  EXPECT_EQ(
      message,
      "there is no moment 'forward:0' in this run. Expected peak, reserved-peak, end; it has no phases, "
      "as no snapshot that PyTorch itself dumped has");
}

}  // namespace
}  // namespace torchmem
