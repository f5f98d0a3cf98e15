#include <gtest/gtest.h>

#include "report/accuracy.h"
#include "torchmem/report.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

using nlohmann::json;

// In this namespace a Run is gtest's too.
torchmem::Run run_of(const std::vector<json>& findings) {
  std::string text = "torchmem-stream 1\n";
  for (json finding : findings) {
    if (!finding.contains("kind")) finding["kind"] = "assumed_value";
    text += "V " + finding.dump() + "\n";
  }
  return read_stream(text, "s");
}

json read_of(const std::string& line, const json& more = json::object()) {
  json finding = {{"name", "aten::item"}, {"op", "aten::item"}, {"line", line}};
  finding.update(more);
  return finding;
}

std::string text_of(const torchmem::Run& run) { return profile_text(Analysis(run, run.main_device())); }

TEST(Fidelity, NothingDecided) {
  for (const std::vector<json>& findings :
       {std::vector<json>{},
        {read_of("m.py:9")},
        {read_of("m.py:9", {{"decides", ""}})},
        {read_of("m.py:9", {{"decides", 1}})},
        {{{"kind", "estimated_workspace"}, {"name", "cudnn"}, {"decides", "size"}}}}) {
    torchmem::Run run = run_of(findings);
    EXPECT_EQ(doubt_text(run), "");
    EXPECT_EQ(decision_text(run.assumptions), "");
    EXPECT_EQ(accuracy_json(run)["decided_by_assumed_values"], false);
    EXPECT_EQ(text_of(run).find("may be wrong"), std::string::npos);
  }
}

TEST(Fidelity, WhatWasDecidedStandsAtTheTop) {
  torchmem::Run run =
      run_of({read_of("m.py:7"), read_of("m.py:9", {{"taken_for", "true"}, {"decides", "branch"}}),
              read_of("m.py:11", {{"decides", "size"}}), read_of("m.py:12", {{"decides", "loop"}})});
  EXPECT_EQ(decision_text(run.assumptions),
            "aten::item at m.py:9 read a value that only a kernel would have computed; it was taken for "
            "true, and a "
            "branch came of it (2 more such reads)");
  EXPECT_TRUE(text_of(run).starts_with("The numbers may be wrong: aten::item at m.py:9 read a value"))
      << text_of(run);
  EXPECT_TRUE(
      profile_markdown(Analysis(run, 0), 5).starts_with("**The numbers may be wrong: aten::item at m.py:9 "));
  EXPECT_EQ(accuracy_json(run)["decided_by_assumed_values"], true);
}

TEST(Fidelity, SaysWhatAValueWasTakenFor) {
  torchmem::Run run = run_of({read_of("m.py:9", {{"taken_for", "17"}, {"decides", "size"}, {"count", 3}})});
  EXPECT_NE(accuracy_text(run).find(
                "aten::item: read back, which only a kernel would have computed; taken for 17,\n  and a "
                "size came of it (3 times)\n    m.py:9\n"),
            std::string::npos)
      << accuracy_text(run);
  EXPECT_EQ(assumed_line(run.assumptions[0]),
            "aten::item at m.py:9, 3 times, taken for 17: a size came of it");
}

TEST(Fidelity, SaysWhatWasCopiedInBulk) {
  torchmem::Run run =
      run_of({read_of("save.py:3", {{"bytes", 1 << 20}, {"what", "fc.weight: f32 of 512x512 and 3 more"}})});
  EXPECT_NE(accuracy_text(run).find(
                "does not hold it: fc.weight:\n  f32 of 512x512 and 3 more (1 time, 1.00 MiB)\n"),
            std::string::npos);
  EXPECT_EQ(assumed_line(run.assumptions[0]),
            "aten::item at save.py:3, 1 time, 1.00 MiB that this device does not hold: fc.weight: f32 of "
            "512x512 and 3 more");
}

// Of many, those that matter are among the few that are shown.
TEST(Fidelity, ShowsDecidingOnesFirst) {
  std::vector<json> findings;
  for (int i = 0; i < 20; ++i) findings.push_back(read_of("m.py:" + std::to_string(i + 1)));
  findings.back()["decides"] = "loop";
  torchmem::Run run = run_of(findings);
  EXPECT_EQ(of_kind(run.assumptions, Assumption::assumed_value).front()->line, "m.py:20");
  EXPECT_EQ(of_kind(run.assumptions, Assumption::assumed_value)[1]->line, "m.py:1");
  EXPECT_NE(accuracy_text(run).find("and a loop\n"), std::string::npos);
  EXPECT_NE(accuracy_text(run).find("and 15 more (--json lists all)"), std::string::npos);
}

TEST(Fidelity, OfAModelThatFailed) {
  EXPECT_EQ(assumed_before_text(run_of({})), "");
  EXPECT_EQ(assumed_before_text(
                run_of({read_of("m.py:7", {{"taken_for", "1.0"}, {"count", 2}}), read_of("m.py:8")})),
            "Before that, 3 values that only a kernel would have computed were read, first by aten::item at "
            "m.py:7, taken "
            "for 1.0. The model may fail for that alone: --assume FILE says what the value is, and a real "
            "GPU knows it.");
}

// Names are somebody else's.
TEST(Fidelity, NothingReachesATerminal) {
  torchmem::Run run =
      run_of({read_of("\x1b[31m\n", {{"taken_for", "\x1b]0;x\x07"}, {"decides", "size"}, {"what", "\x1b"}})});
  for (const std::string& text : {doubt_text(run), accuracy_text(run), assumed_line(run.assumptions[0])})
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(assumed_line(run.assumptions[0]).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace torchmem
