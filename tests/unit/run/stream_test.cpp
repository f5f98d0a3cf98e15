#include "torchmem/stream.h"

#include <gtest/gtest.h>

#include "run/run_info_json.h"

namespace torchmem {
namespace {

constexpr const char* small_stream =
    "torchmem-stream 1\n"
    "M {\"model\":{\"file\":\"m.pt\"},\"allocator_settings\":{\"max_split_size\":-1}}\n"
    "F 0 [{\"filename\":\"a.py\",\"line\":3,\"name\":\"f\"}]\n"
    "E segment_alloc 0 4096 2097152 0 10 0\n"
    "E alloc 0 4096 100 0 11 0\n"
    "B 1 512\n"
    "P "
    "{\"phase\":\"load\",\"events\":2,\"allocated_bytes\":{\"current\":512,\"peak\":512},\"duration_ms\":1.5}"
    "\n"
    "M {\"model\":{\"parameters\":1}}\n"
    "V {\"kind\":\"assumed_value\",\"name\":\"aten::item\",\"bytes\":8}\n"
    "V {\"kind\":\"assumed_value\",\"name\":\"aten::item\",\"bytes\":16}\n"
    "E free_requested 0 4096 100 0 12 -\n"
    "E free_completed 0 4096 100 0 12 -\n"
    "P {\"phase\":\"forward\",\"iteration\":0,\"events\":4}\n"
    "Z {\"segments\":[{\"device\":0,\"address\":4096,\"total_size\":2097152,\"segment_type\":\"small\","
    "\"blocks\":[{\"address\":4096,\"size\":2097152,\"state\":\"inactive\"}]}]}\n"
    "X {\"kind\":\"model_failed\",\"message\":\"it "
    "threw\",\"phase\":\"forward\",\"iteration\":0,\"hint\":\"h\"}\n";

TEST(Stream, OwnersAreOfBlocksAndTheLastOneStands) {
  torchmem::Run run = read_stream(
      "torchmem-stream 1\n"
      "F 0 [{\"filename\":\"<op>\",\"line\":0,\"name\":\"aten::tanh\"}]\n"
      "E alloc 0 4096 600 0 1 0\n"
      "E alloc 0 8192 4 0 2 -\n"
      "T 0 {\"dtype\":\"f32\",\"name\":\"x\",\"shape\":[2,75]}\n"
      "O 0 temporaries - -\n"
      "O 0 activations 0 0\n",
      "test");
  ASSERT_EQ(run.traces[0].size(), 2u);
  EXPECT_EQ(run.traces[0][0].category, Category::activations);
  EXPECT_EQ(run.traces[0][0].tensor, 0);
  EXPECT_EQ(run.traces[0][0].saved_by, 0);
  EXPECT_EQ(run.tensors[0], (TensorInfo{"x", "f32", {2, 75}}));
  EXPECT_EQ(run.traces[0][1].category, Category::other);
  EXPECT_EQ(run.traces[0][1].tensor, no_tensor);
}

TEST(Stream, ReadsEveryRecord) {
  torchmem::Run run = read_stream(small_stream, "s");
  EXPECT_TRUE(run.is_ours);
  EXPECT_EQ(info_json(run.info)["model"]["file"], "m.pt");
  EXPECT_EQ(info_json(run.info)["model"]["parameters"], 1);
  EXPECT_EQ(run.allocator_settings["max_split_size"], -1);
  ASSERT_EQ(run.traces.size(), 1u);
  ASSERT_EQ(run.traces[0].size(), 4u);
  EXPECT_EQ(run.traces[0][1].action, Action::alloc);
  EXPECT_EQ(run.traces[0][1].block_size, 512u);
  EXPECT_EQ(run.traces[0][1].frames, 0);
  EXPECT_EQ(run.traces[0][2].frames, no_frames);
  EXPECT_EQ(run.stacks[0][0], (Frame{"a.py", 3, "f"}));
  ASSERT_EQ(run.phases.size(), 2u);
  EXPECT_EQ(run.phases[0].name, "load");
  EXPECT_FALSE(run.phases[0].iteration);
  EXPECT_EQ(run.phases[0].events, std::vector<uint64_t>{2});
  EXPECT_EQ(run.phases[0].allocated->peak, 512u);
  EXPECT_FALSE(run.phases[0].reserved);
  EXPECT_EQ(run.phases[0].duration_ms, 1.5);
  EXPECT_EQ(run.phases[1].iteration, 0);
  EXPECT_EQ(run.phases[1].events, std::vector<uint64_t>{4});
  ASSERT_EQ(run.assumptions.size(), 1u);
  EXPECT_EQ(run.assumptions[0].count, 2u);
  EXPECT_EQ(run.assumptions[0].bytes, 24u);
  EXPECT_TRUE(run.has_segments);
  EXPECT_FALSE(run.segments[0].is_large);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->kind, ErrorKind::model_failed);
  EXPECT_EQ(run.error->detail["hint"], "h");
}

// What an assumed value decides may be known of one read and not of another at the same place.
TEST(Stream, ReadsOfOnePlaceAreOneAssumption) {
  auto record = [](const std::string& more) {
    return "V {\"kind\":\"assumed_value\",\"name\":\"aten::item\",\"line\":\"m.py:9\"" + more + "}\n";
  };
  torchmem::Run run =
      read_stream("torchmem-stream 1\n" + record("") + record(",\"taken_for\":\"1\"") +
                      record(",\"taken_for\":\"2\",\"decides\":\"size\",\"count\":3") + record("") +
                      record(",\"decides\":\"loop\"") + record(",\"op\":\"aten::all\""),
                  "s");
  ASSERT_EQ(run.assumptions.size(), 3u);
  EXPECT_EQ(run.assumptions[0].count, 6u);
  EXPECT_EQ(run.assumptions[0].taken_for, "1") << "the first one's";
  EXPECT_EQ(run.assumptions[0].decides, Decision::size);
  EXPECT_TRUE(is_deciding(run.assumptions[0]));
  EXPECT_EQ(run.assumptions[1].decides, Decision::loop);
  EXPECT_EQ(run.assumptions[2].op, "aten::all");
  EXPECT_EQ(first_deciding(run.assumptions), &run.assumptions[0]);
}

// The writer may die at any byte: what was complete before is kept.
TEST(Stream, AnyCutOfTheLastLineIsRead) {
  std::string whole = small_stream;
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_NO_THROW(read_stream(whole.substr(0, size), "s")) << "cut at " << size;
  }
}

TEST(Stream, CountsEventsOfEachDeviceForItself) {
  torchmem::Run run = read_stream(
      "torchmem-stream 1\nE segment_alloc 0 4096 2097152 0 1 -\nE segment_alloc 1 4096 2097152 0 1 -\n"
      "E alloc 1 4096 5 0 1 -\nB 2 512\nP {\"phase\":\"load\",\"events\":2}\n",
      "s");
  EXPECT_EQ(run.traces[1][1].block_size, 512u);
  EXPECT_EQ(run.phases[0].events, (std::vector<uint64_t>{1, 1}));
}

void expect_refused(const std::string& text, const std::string& expected) {
  try {
    read_stream(text, "events");
    FAIL() << "accepted: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
  }
}

TEST(Stream, SaysWhichLineIsWrong) {
  expect_refused("hello\n", "line 1: expected 'torchmem-stream 1', got 'hello'");
  expect_refused("torchmem-stream 1\nQ x\n", "events, line 2: unknown record 'Q'");
  expect_refused("torchmem-stream 1\nE eat 0 1 2 3 4 -\n", "line 2: unknown action 'eat'");
  expect_refused("torchmem-stream 1\nE alloc 0 x 2 3 4 -\n", "line 2: expected a number, got 'x'");
  expect_refused("torchmem-stream 1\nE alloc 0 1 2\n", "line 2: a field is missing");
  expect_refused("torchmem-stream 1\nE alloc 0 1 2 3 4 7\n", "stack of frames 7 was not given before");
  expect_refused("torchmem-stream 1\nO 0 inputs - -\n", "event 0 has not happened yet");
  expect_refused("torchmem-stream 1\nE alloc 0 1 2 3 4 -\nO 0 toys - -\n", "unknown category 'toys'");
  expect_refused("torchmem-stream 1\nE alloc 0 1 2 3 4 -\nO 0 inputs 3 -\n", "tensor 3 was not given before");
  expect_refused("torchmem-stream 1\nT 1 {}\n", "expected tensor 0");
  expect_refused("torchmem-stream 1\nE alloc 9999999 1 2 3 4 -\n", "no such device");
  expect_refused("torchmem-stream 1\nB 0 512\n", "line 2: event 0 has not happened yet");
  expect_refused("torchmem-stream 1\nF 1 []\n", "line 2: expected stack 0");
  expect_refused("torchmem-stream 1\nP {\"phase\":\"load\",\"events\":1}\n", "have not happened yet");
  expect_refused("torchmem-stream 1\nM {\n", "line 2: ");
  expect_refused("torchmem-stream 1\nP {\"phase\":1}\n", "line 2: ");
}

}  // namespace
}  // namespace torchmem
