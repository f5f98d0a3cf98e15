#include "torchmem/run_file.h"

#include <gtest/gtest.h>

#include "run/assumption_json.h"
#include "run/phase_json.h"
#include "run/pickle_json.h"
#include "run/pickle_reader.h"
#include "run/run_info_json.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

using nlohmann::json;

json as_json(const std::string& pickle) { return json_from(Pickle(pickle).root()); }

std::string pickled(const json& value) {
  PickleWriter writer;
  write_json(writer, value);
  return writer.finish();
}

TEST(RunFile, ReadsASnapshotOfEveryProtocol) {
  std::string first;
  for (int protocol = 2; protocol <= 5; ++protocol) {
    torchmem::Run run = read_run_file(TEST_DATA "/P21_protocol_" + std::to_string(protocol) + ".pickle");
    EXPECT_FALSE(run.is_ours);
    ASSERT_EQ(run.segments.size(), 1u);
    EXPECT_EQ(run.segments[0].total_size, 20971520u);
    EXPECT_EQ(run.segments[0].blocks.size(), 3u);
    EXPECT_EQ(run.segments[0].blocks[2].state, Block::State::inactive);
    ASSERT_EQ(run.traces.size(), 1u);
    EXPECT_EQ(run.traces[0].size(), 12u);
    EXPECT_EQ(run.allocator_settings["max_split_size"], -1);
    std::string again = write_run(run);
    if (protocol == 2) first = again;
    EXPECT_EQ(again, first);
  }
}

TEST(RunFile, ASnapshotThatIsWrittenAgainIsTheSame) {
  torchmem::Run run = read_run_file(TEST_DATA "/P19.pickle");
  json once = as_json(write_run(run));
  EXPECT_EQ(as_json(write_run(read_run(write_run(run), "again"))), once);
  EXPECT_FALSE(once.contains("torchmem"));
}

Run our_run() {
  return read_stream(
      "torchmem-stream 1\nM {\"device\":{\"kind\":\"virtual\"},\"big\":18446744073709551615}\n"
      "F 0 [{\"filename\":\"a.py\",\"line\":3,\"name\":\"f\"}]\n"
      "F 1 [{\"filename\":\"b.py\",\"line\":4,\"name\":\"g\"}]\n"
      "T 0 {\"name\":\"weight\",\"dtype\":\"f32\",\"shape\":[5,5]}\nT 1 {\"name\":\"x\"}\n"
      "E segment_alloc 0 4096 2097152 0 10 0\nE alloc 0 4096 100 0 11 0\nB 1 1024\nO 1 activations 1 1\n"
      "E oom 0 77 1000 0 12 -\n"
      "P "
      "{\"phase\":\"forward\",\"iteration\":0,\"events\":3,\"allocated_bytes\":{\"current\":1024,\"peak\":"
      "1024},"
      "\"device_bytes\":5,\"duration_ms\":0.25,\"statistics\":{\"num_ooms\":1}}\n"
      "V {\"kind\":\"unmodelled_call\",\"library\":\"cublas\",\"name\":\"cublasFoo\",\"count\":3}\n"
      "X "
      "{\"kind\":\"out_of_memory\",\"message\":\"no\",\"phase\":\"forward\",\"iteration\":0,\"requested_"
      "bytes\":1000}\n",
      "s");
}

TEST(RunFile, OurFactsComeBack) {
  torchmem::Run run = our_run();
  torchmem::Run again = read_run(write_run(run), "again");
  EXPECT_TRUE(again.is_ours);
  EXPECT_FALSE(again.has_segments);
  EXPECT_EQ(info_json(again.info), info_json(run.info));
  EXPECT_EQ(again.stacks, run.stacks);
  EXPECT_EQ(again.traces[0][1].block_size, 1024u);
  EXPECT_EQ(again.traces[0][2].address, 77u);
  EXPECT_EQ(again.traces[0][2].action, Action::oom);
  EXPECT_EQ(again.tensors, run.tensors);
  EXPECT_EQ(again.traces[0][1].category, Category::activations);
  EXPECT_EQ(again.traces[0][1].tensor, 1);
  ASSERT_NE(again.traces[0][1].saved_by, no_frames);
  EXPECT_EQ(again.stacks[static_cast<size_t>(again.traces[0][1].saved_by)], run.stacks[1]);
  EXPECT_EQ(again.traces[0][0].tensor, no_tensor);
  ASSERT_EQ(again.phases.size(), 1u);
  EXPECT_EQ(phase_to_json(again.phases[0]), phase_to_json(run.phases[0]));
  EXPECT_EQ(again.phases[0].events, std::vector<uint64_t>{3});
  EXPECT_EQ(again.phases[0].statistics, run.phases[0].statistics);
  ASSERT_EQ(again.assumptions.size(), 1u);
  EXPECT_EQ(again.assumptions[0].count, 3u);
  EXPECT_EQ(assumption_to_json(again.assumptions[0]), assumption_to_json(run.assumptions[0]));
  EXPECT_EQ(again.error->kind, ErrorKind::out_of_memory);
  EXPECT_EQ(again.error->detail["requested_bytes"], 1000);
}

// What a newer recorder says, or an odd one, is kept as it was.
TEST(RunFile, AssumptionsComeBackAsTheyWere) {
  const std::string records[] = {
      R"({"kind":"toy","name":"a"})", R"({"kind":"assumed_value","name":"","line":7,"decides":"fate"})",
      R"({"kind":"estimated_workspace","name":"c","unknown":true,"without":1,"more":{"x":[1]}})"};
  std::string text = "torchmem-stream 1\n";
  for (const std::string& record : records) text += "V " + record + "\n";
  torchmem::Run run = read_run(write_run(read_stream(text, "s")), "again");
  ASSERT_EQ(run.assumptions.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    nlohmann::json told = nlohmann::json::parse(records[i]);
    if (i > 0) told.erase("kind");
    told.update({{"count", 1}, {"bytes", 0}});
    EXPECT_EQ(assumption_to_json(run.assumptions[i]), told);
  }
  EXPECT_EQ(run.assumptions[0].kind, Assumption::other);
  EXPECT_TRUE(run.assumptions[2].unknown);
  EXPECT_FALSE(run.assumptions[2].without);
}

// In memory_viz's own key; on frees too, which it plots by what they end.
TEST(RunFile, EachAllocationAndFreeSaysItsCategory) {
  torchmem::Run run = read_stream(
      "torchmem-stream 1\nE segment_alloc 0 4096 2097152 0 1 -\n"
      "E alloc 0 4096 100 0 1 -\nO 1 gradients - -\nE alloc 0 4608 100 0 1 -\n"
      "E free_requested 0 4096 100 0 1 -\nE free_completed 0 4096 100 0 1 -\n"
      "E alloc 0 4096 100 0 1 -\nO 5 workspaces - -\nE free_completed 0 4096 100 0 1 -\n"
      "E free_completed 0 4608 100 0 1 -\nE snapshot 0 0 0 0 1 -\n",
      "s");
  json trace = as_json(write_run(run))["device_traces"][0];
  std::vector<std::string> categories;
  for (const json& event : trace) categories.push_back(event.value("category", "-"));
  EXPECT_EQ(categories, (std::vector<std::string>{"-", "gradients", "other", "gradients", "gradients",
                                                  "workspaces", "workspaces", "other", "-"}));
}

// E.g. a run file that another tool has filtered; its words for other things are no categories of ours.
TEST(RunFile, ASnapshotMayCarryCategories) {
  json event = {{"action", "alloc"}, {"addr", 4096}, {"size", 512}, {"category", "gradients"}};
  json other = {{"action", "alloc"}, {"addr", 8192}, {"size", 512}, {"category", "autograd_detail"}};
  json odd = {{"action", "alloc"}, {"addr", 12288}, {"size", 512}, {"category", 7}};
  torchmem::Run run = read_run(
      pickled({{"segments", json::array()}, {"device_traces", {json::array({event, other, odd})}}}), "x");
  EXPECT_EQ(run.traces[0][0].category, Category::gradients);
  EXPECT_EQ(run.traces[0][1].category, Category::other);
  EXPECT_EQ(run.traces[0][2].category, Category::other);
  EXPECT_EQ(as_json(write_run(run))["device_traces"][0][0]["category"], "gradients");
  EXPECT_FALSE(
      as_json(write_run(read_run_file(TEST_DATA "/P19.pickle")))["device_traces"][0][1].contains("category"));
}

// Made before owners were recorded: nobody is known.
TEST(RunFile, AFileWithoutOwnersIsRead) {
  json file = as_json(write_run(our_run()));
  for (const char* name : {"tensors", "block_tensors", "saved_by"}) file["torchmem"].erase(name);
  for (json& event : file["device_traces"][0]) event.erase("category");
  torchmem::Run run = read_run(pickled(file), "old");
  EXPECT_TRUE(run.tensors.empty());
  EXPECT_EQ(run.traces[0][1].category, Category::other);
  EXPECT_EQ(run.traces[0][1].tensor, no_tensor);
  EXPECT_EQ(run.traces[0][1].saved_by, no_frames);
  EXPECT_EQ(run.traces[0][1].block_size, 1024u);
}

std::string refusal(const std::string& pickle) {
  try {
    read_run(pickle, "x.pickle");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
  return "accepted";
}

TEST(RunFile, WhatIsNoSnapshotIsSaid) {
  EXPECT_NE(refusal("hello").find("cannot read x.pickle as a memory snapshot"), std::string::npos);
  EXPECT_NE(refusal(pickled({{"weights", 1}})).find("there is no 'segments' in it"), std::string::npos);
  EXPECT_NE(refusal(pickled({{"segments", 1}})).find("'segments' is not a list"), std::string::npos);
  EXPECT_NE(refusal(pickled({{"segments", {{{"address", "x"}, {"total_size", 1}}}}}))
                .find("'address' is not a whole"),
            std::string::npos);
  EXPECT_NE(refusal(pickled({{"segments", json::array()}, {"device_traces", {{{{"size", 1}}}}}}))
                .find("'action' is missing"),
            std::string::npos);
}

TEST(RunFile, DamagedOwnersAreRefused) {
  auto damaged = [](const char* name, const json& value) {
    json file = as_json(write_run(our_run()));
    file["torchmem"][name] = value;
    return refusal(pickled(file));
  };
  EXPECT_NE(damaged("block_tensors", {{3}}).find("names a tensor that is not in 'tensors'"),
            std::string::npos);
  EXPECT_NE(damaged("block_tensors", {{-1}}).find("names a tensor that is not in 'tensors'"),
            std::string::npos);
  EXPECT_NE(damaged("block_tensors", {{"x"}}).find("'block_tensors' is not a whole number"),
            std::string::npos);
  EXPECT_NE(damaged("block_tensors", 3).find("'block_tensors' is not a list"), std::string::npos);
  EXPECT_NE(damaged("saved_by", {{json::array({1})}}).find("a frame is not a dict"), std::string::npos);
  EXPECT_NE(damaged("tensors", json::array({1})).find("as a run file"), std::string::npos);
  EXPECT_NE(damaged("tensors", 1).find("'tensors' is not a list"), std::string::npos);
  // Fewer values than events, or more: those that are there are taken.
  EXPECT_EQ(damaged("block_tensors", json::array()), "accepted");
  EXPECT_EQ(damaged("block_tensors", {{1, 2, 2}, {1}}), "accepted");
}

TEST(RunFile, AFileFromTheFutureIsSaid) {
  std::string refused =
      refusal(pickled({{"segments", json::array()}, {"torchmem", {{"schema", "torchmem.run/9"}}}}));
  EXPECT_NE(refused.find("'torchmem.run/9'"), std::string::npos) << refused;
  EXPECT_NE(refused.find("use the torchmem that wrote it, or a newer one"), std::string::npos) << refused;
}

}  // namespace
}  // namespace torchmem
