#include <gtest/gtest.h>

#include "recorder.h"
#include "torchmem/attribution.h"
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

TEST(Moment, OfThePeaks) {
  Recorder recorder = two_iterations();
  Ledger ledger(recorder.run, 0);
  Moment moment = find_moment(recorder.run, ledger, 0, "peak");
  EXPECT_EQ(moment.name, "peak");
  EXPECT_EQ(moment.events, 5u);
  EXPECT_EQ(moment.phase, "forward");
  EXPECT_EQ(moment.iteration, 1);
  moment = find_moment(recorder.run, ledger, 0, "reserved-peak");
  EXPECT_EQ(moment.events, 3u);
  EXPECT_EQ(moment.phase, "forward");
  EXPECT_EQ(moment.iteration, 0);
  EXPECT_EQ(find_moment(recorder.run, ledger, 0, "end").events, 7u);
}

TEST(Moment, OfEqualPeaksTheFirst) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  for (int twice = 0; twice < 2; ++twice) {
    recorder.alloc(4096, 1024, 1024);
    recorder.free(4096, 1024);
  }
  recorder.event(Action::segment_free, 4096, 2 * MiB);
  recorder.segment(4096, 2 * MiB);
  recorder.phase("forward", 0);
  Ledger ledger(recorder.run, 0);
  EXPECT_EQ(find_moment(recorder.run, ledger, 0, "peak").events, 2u);
  EXPECT_EQ(find_moment(recorder.run, ledger, 0, "reserved-peak").events, 1u);
}

TEST(Moment, OfAPhasesEnd) {
  Recorder recorder = two_iterations();
  Ledger ledger(recorder.run, 0);
  auto events = [&](const char* name) { return find_moment(recorder.run, ledger, 0, name).events; };
  EXPECT_EQ(events("load"), 2u);
  EXPECT_EQ(events("forward:0.0"), 3u);
  EXPECT_EQ(events("forward:0.1"), 4u);
  EXPECT_EQ(events("forward:0"), 4u);  // the iteration's last micro-batch
  EXPECT_EQ(events("forward:1"), 7u);
  Moment moment = find_moment(recorder.run, ledger, 0, "forward:0.0");
  EXPECT_EQ(moment.phase, "forward");
  EXPECT_EQ(moment.iteration, 0);
  EXPECT_FALSE(find_moment(recorder.run, ledger, 0, "load").iteration);
}

// An inference's phase "end" is one by its iteration.
TEST(Moment, APhaseMayBeCalledEnd) {
  Recorder recorder;
  recorder.segment(4096, 2 * MiB);
  recorder.phase("end", 0);
  recorder.alloc(4096, 512, 512);
  Ledger ledger(recorder.run, 0);
  EXPECT_EQ(find_moment(recorder.run, ledger, 0, "end:0").events, 1u);
  EXPECT_EQ(find_moment(recorder.run, ledger, 0, "end").events, 2u);
}

TEST(Moment, OfAPhaseThatDidNotEnd) {
  Recorder recorder = two_iterations();
  recorder.alloc(4608, 4096, 4096);
  recorder.run.error = RunError{ErrorKind::out_of_memory, "m", "backward", 1, {}};
  Ledger ledger(recorder.run, 0);
  Moment moment = find_moment(recorder.run, ledger, 0, "peak");
  EXPECT_EQ(moment.events, 8u);
  EXPECT_EQ(moment.phase, "backward");
  EXPECT_EQ(moment.iteration, 1);
}

TEST(Moment, AnErrorNamesThePhasesThereAre) {
  Recorder recorder = two_iterations();
  Ledger ledger(recorder.run, 0);
  for (const char* name : {"forward:2", "forward", "forward:0.2", "", "peaks", "load:0"}) {
    auto [kind, message] = refusal([&] { find_moment(recorder.run, ledger, 0, name); });
    EXPECT_EQ(kind, ErrorKind::bad_usage);
    EXPECT_EQ(message, "there is no moment '" + std::string(name) +
                           "' in this run. Expected peak, reserved-peak, end, or a phase's end: load, "
                           "forward:0.0 to forward:1.0, optimizer:0");
  }
}

TEST(Moment, ASnapshotHasNoPhases) {
  torchmem::Run run = read_run_file(TEST_DATA "/P21_protocol_5.pickle");
  Ledger ledger(run, 0);
  Moment moment = find_moment(run, ledger, 0, "peak");
  EXPECT_FALSE(moment.phase);
  EXPECT_FALSE(moment.iteration);
  auto [kind, message] = refusal([&] { find_moment(run, ledger, 0, "forward:0"); });
  EXPECT_EQ(kind, ErrorKind::bad_usage);
  EXPECT_EQ(
      message,
      "there is no moment 'forward:0' in this run. Expected peak, reserved-peak, end; it has no phases, "
      "as no snapshot that PyTorch itself dumped has");
}

}  // namespace
}  // namespace torchmem
