#include "capture/stream_writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <system_error>

#include "torchmem/stream.h"

namespace torchmem::capture {
namespace {

class StreamWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("stream_writer_test_" + std::to_string(::getpid()));
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  std::filesystem::path path_;
};

AllocatorEvent alloc(std::uint64_t address, std::uint64_t size, StackId stack) {
  AllocatorEvent event;
  event.action = "alloc";
  event.address = address;
  event.size = size;
  event.time_us = 7;
  event.stack = stack;
  return event;
}

TEST_F(StreamWriterTest, WritesOneRecordALine) {
  {
    const auto writer = StreamWriter::open(path_);
    writer->facts({{"model", {{"path", "m.pt"}}}});
    const StackId stack = writer->stack({{"model.py", 3, "forward"}});
    EXPECT_EQ(stack, 0);
    EXPECT_EQ(writer->event(alloc(4096, 100, stack)), 0u);
    EXPECT_EQ(writer->event(alloc(8192, 4, no_stack)), 1u);
    writer->phase({{"phase", "load"}});
  }
  EXPECT_EQ(text(),
            "torchmem-stream 1\n"
            "M {\"model\":{\"path\":\"m.pt\"}}\n"
            "F 0 [{\"filename\":\"model.py\",\"line\":3,\"name\":\"forward\"}]\n"
            "E alloc 0 4096 100 0 7 0\n"
            "E alloc 0 8192 4 0 7 -\n"
            "P {\"events\":2,\"phase\":\"load\"}\n");
}

TEST_F(StreamWriterTest, WhatItWritesIsRead) {
  {
    const auto writer = StreamWriter::open(path_);
    const StackId stack = writer->stack({{"a \"quoted\" name.py", 1, "f"}});
    writer->event(alloc(4096, 100, stack));
    writer->assumption({{"kind", "assumed_value"}, {"name", "aten::item"}, {"count", 2}, {"bytes", 16}});
    writer->error({{"kind", "model_failed"}, {"message", "two\nlines"}});
  }
  const torchmem::Run run = read_stream_file(path_);
  ASSERT_EQ(run.traces.size(), 1u);
  ASSERT_EQ(run.traces[0].size(), 1u);
  ASSERT_EQ(run.assumptions.size(), 1u);
  EXPECT_EQ(run.assumptions[0].count, 2u);
  ASSERT_TRUE(run.error);
  EXPECT_EQ(run.error->message, "two\nlines");
}

TEST_F(StreamWriterTest, OwnersAreOfTensorsAndStacks) {
  {
    const auto writer = StreamWriter::open(path_);
    const StackId stack = writer->stack({{"<op>", 0, "aten::tanh"}});
    const auto event = writer->event(alloc(4096, 24, no_stack));
    const TensorId tensor = writer->tensor("x", "f32", {2, 3});
    writer->owner(event, "activations", tensor, stack);
  }
  const torchmem::Run run = read_stream_file(path_);
  EXPECT_EQ(run.traces.at(0).at(0).category, Category::activations);
  EXPECT_EQ(run.tensors.at(0), (TensorInfo{"x", "f32", {2, 3}}));
  EXPECT_EQ(run.traces[0][0].saved_by, 0);
}

TEST_F(StreamWriterTest, ManyRecordsKeepTheirOrder) {
  constexpr std::uint64_t event_count = 50'000;
  {
    const auto writer = StreamWriter::open(path_);
    for (std::uint64_t i = 0; i < event_count; ++i) {
      ASSERT_EQ(writer->event(alloc(4096, i, no_stack)), i);
      if (i % 1000 == 0) writer->assumption({{"kind", "assumed_value"}, {"name", std::to_string(i)}});
    }
  }
  const torchmem::Run run = read_stream_file(path_);
  ASSERT_EQ(run.traces.at(0).size(), event_count);
  for (std::uint64_t i = 0; i < event_count; ++i) ASSERT_EQ(run.traces[0][i].size, i);
  EXPECT_EQ(run.assumptions.size(), 50u);
}

TEST_F(StreamWriterTest, AModelsStrayBytesAreReplaced) {
  {
    const auto writer = StreamWriter::open(path_);
    writer->facts({{"name", "caf\xe9"}});
  }
  EXPECT_EQ(text(), "torchmem-stream 1\nM {\"name\":\"caf\xEF\xBF\xBD\"}\n");
}

TEST_F(StreamWriterTest, PhasesReachTheFileAtOnce) {
  const auto writer = StreamWriter::open(path_);
  writer->phase({{"phase", "load"}});
  EXPECT_EQ(text(), "torchmem-stream 1\nP {\"events\":0,\"phase\":\"load\"}\n");
}

TEST_F(StreamWriterTest, AFullDiskIsTold) {
  const auto writer = StreamWriter::open("/dev/full");
  EXPECT_EQ(writer->error_number(), 0);
  writer->phase({{"phase", "load"}});
  EXPECT_EQ(writer->error_number(), ENOSPC);
}

StreamWriter* interrupted = nullptr;

void end(int number) {
  if (!interrupted->flush_from_signal(number)) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Notes events until a signal ends it; `noted` says how many there are.
[[noreturn]] void note_until_interrupted(const std::filesystem::path& path,
                                         std::atomic<std::uint64_t>& noted) {
  interrupted = StreamWriter::open(path).release();
  std::signal(SIGTERM, end);
  for (std::uint64_t i = 0;; ++i) {
    interrupted->event(alloc(4096, i, no_stack));
    noted = i + 1;
    if (i % 500 == 0) interrupted->phase({{"phase", "forward"}});
  }
}

TEST_F(StreamWriterTest, ASignalAtAnyMomentLosesNothing) {
  auto* noted = new (mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
      std::atomic<std::uint64_t>(0);
  for (int i = 0; i < 40; ++i) {
    *noted = 0;
    const pid_t child = fork();
    if (child == 0) note_until_interrupted(path_, *noted);
    while (*noted < 1000) usleep(100);
    usleep(static_cast<useconds_t>(37 * i));
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
    const torchmem::Run run = read_stream_file(path_);
    ASSERT_EQ(run.traces.size(), 1u);
    ASSERT_GE(run.traces[0].size(), *noted);
    for (std::uint64_t event = 0; event < run.traces[0].size(); ++event)
      ASSERT_EQ(run.traces[0][event].size, event);
  }
  munmap(noted, 4096);
}

TEST_F(StreamWriterTest, APathThatCannotBeWrittenIsNamed) {
  try {
    StreamWriter::open("/nowhere/stream");
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/stream"), std::string::npos);
  }
}

}  // namespace
}  // namespace torchmem::capture
