#include "../../../src/vgpu/nccl/log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "../../../src/vgpu/device/values.h"

namespace torchmem::vgpu::nccl {
namespace {

using Found = LogReader::Found;

struct Log : testing::Test {
  std::string folder, path;
  void SetUp() override {
    char name[] = "/tmp/log-test-XXXXXX";
    folder = mkdtemp(name);
    path = folder + "/log";
    unsetenv("TORCHMEM_NCCL_LOG_BYTES");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static Record record(uint64_t sequence, size_t bytes, int to = everybody, Lane lane = Lane::collective) {
    Record made;
    made.lane = lane;
    made.to = to;
    made.sequence = sequence;
    made.bytes = bytes;
    return made;
  }
  static void append(LogWriter& writer, uint64_t sequence, const std::string& text, int to = everybody,
                     Lane lane = Lane::collective) {
    // A question mark is unknown, what follows an exclamation mark is assumed.
    std::vector<unsigned char> states(text.size(), tmv_value_known);
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '?') states[i] = tmv_value_unknown;
      if (i > 0 && text[i - 1] == '!') states[i] = tmv_value_assumed;
    }
    writer.append(record(sequence, text.size(), to, lane), text.data(), states.data());
  }
  // What the reader finds: the text, or a word in brackets.
  static std::string found(LogReader& reader, uint64_t sequence, Lane lane = Lane::collective) {
    Record made;
    uint64_t at = 0;
    switch (reader.find(lane, sequence, &made, &at)) {
      case Found::here:
        break;
      case Found::not_yet:
        return "(not yet)";
      case Found::unknown:
        return "(unknown)";
      case Found::left:
        return "(left)";
      case Found::ended:
        return "(ended)";
      case Found::not_there:
        return "(not there)";
      case Found::broken:
        return "(broken)";
    }
    if (made.bytes > 1000) return "(damaged)";
    std::string text(made.bytes, '\0');
    std::vector<unsigned char> states(made.bytes);
    if (!reader.read(made, at, text.data(), states.data())) return "(damaged)";
    for (size_t i = 0; i < text.size(); ++i) {
      if (states[i] == tmv_value_unknown) text[i] = '?';
      EXPECT_EQ(states[i] == tmv_value_assumed, i > 0 && text[i - 1] == '!');
    }
    return text;
  }
};

TEST_F(Log, WhatIsAppendedIsFoundInAnyOrder) {
  LogReader reader(path, 1);
  EXPECT_EQ(found(reader, 0), "(not there)");
  LogWriter writer(path, 0, 2);
  EXPECT_EQ(found(reader, 0), "(not yet)");
  append(writer, 0, "zero");
  append(writer, 1, "");
  append(writer, 3, "three");
  EXPECT_EQ(found(reader, 3), "three");
  EXPECT_EQ(found(reader, 0), "zero");
  EXPECT_EQ(found(reader, 2), "(not yet)");
  append(writer, 4, "four");
  EXPECT_EQ(found(reader, 4), "four");
  EXPECT_EQ(found(reader, 4), "four");
}

TEST_F(Log, ARankFindsWhatIsForItOrForEverybody) {
  LogWriter writer(path, 0, 3);
  append(writer, 0, "one's", 1);
  append(writer, 0, "two's", 2);
  append(writer, 1, "all's");
  append(writer, 0, "sent to two", 2, Lane::point_to_point);
  LogReader one(path, 1), two(path, 2);
  EXPECT_EQ(found(one, 0), "one's");
  EXPECT_EQ(found(two, 0), "two's");
  EXPECT_EQ(found(one, 1), "all's");
  EXPECT_EQ(found(two, 1), "all's");
  EXPECT_EQ(found(two, 0, Lane::point_to_point), "sent to two");
  EXPECT_EQ(found(one, 0, Lane::point_to_point), "(not yet)");
}

TEST_F(Log, EveryByteHasItsState) {
  LogWriter writer(path, 0, 2);
  const char* texts[] = {"known", "kn??n", "??", "!assumed", "?k!a?", "n?"};
  for (uint64_t i = 0; i < std::size(texts); ++i) append(writer, i, texts[i]);
  LogReader reader(path, 1);
  for (uint64_t i = 0; i < std::size(texts); ++i) EXPECT_EQ(found(reader, i), texts[i]);
}

TEST_F(Log, WhoLeavesIsNotWaitedFor) {
  LogWriter writer(path, 0, 2);
  append(writer, 0, "zero");
  writer.leave();
  LogReader reader(path, 1);
  EXPECT_EQ(found(reader, 1), "(left)");
  EXPECT_EQ(found(reader, 0), "zero");
}

TEST_F(Log, WhoseProcessEndedIsNotWaitedFor) {
  pid_t child = fork();
  if (child == 0) {
    LogWriter writer(path, 0, 2);
    append(writer, 0, "zero");
    _exit(0);
  }
  // Until it is waited for it is still there, as a zombie.
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  LogReader reader(path, 1);
  EXPECT_EQ(found(reader, 0), "zero");
  EXPECT_EQ(found(reader, 1), "(ended)");
  waitpid(child, nullptr, 0);
  EXPECT_EQ(found(reader, 1), "(ended)");
}

// Cut at every byte: what is whole is found, what is not has not come, and nothing else is ever seen.
TEST_F(Log, CutAtEveryByte) {
  {
    LogWriter writer(path, 0, 2);
    append(writer, 0, "zero");
    append(writer, 1, "one");
  }
  const auto whole = std::filesystem::file_size(path);
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::string cut = folder + "/cut";
  for (size_t size = 0; size <= whole; ++size) {
    std::ofstream(cut, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    LogReader reader(cut, 1);
    std::string zero = found(reader, 0), one = found(reader, 1);
    EXPECT_TRUE(zero == "zero" || zero == "(not yet)" || zero == "(broken)") << size << zero;
    EXPECT_TRUE(one == "one" || one == "(not yet)" || one == "(broken)") << size << one;
    EXPECT_EQ(one == "one", size == whole) << size;
    // The rest comes while it is read.
    std::ofstream(cut, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(found(reader, 0), "zero") << size;
    EXPECT_EQ(found(reader, 1), "one") << size;
  }
}

TEST_F(Log, CutWhileItIsRead) {
  LogWriter writer(path, 0, 2);
  append(writer, 0, "zero");
  LogReader reader(path, 1);
  EXPECT_EQ(found(reader, 0), "zero");
  std::filesystem::resize_file(path, 60);
  EXPECT_EQ(found(reader, 0), "(broken)");
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(found(reader, 0), "(broken)");
}

// One byte changed, anywhere: the payload is as it was written or known to be damaged.
TEST_F(Log, AChangedByteIsNoticed) {
  LogWriter writer(path, 0, 2);
  append(writer, 0, "zero");
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::string changed_path = folder + "/changed";
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    std::ofstream(changed_path, std::ios::binary | std::ios::trunc) << changed;
    LogReader reader(changed_path, 1);
    std::string text = found(reader, 0);
    EXPECT_TRUE(text == "zero" || text.front() == '(') << i << text;
  }
}

TEST_F(Log, WhatCannotBeWrittenIsUnknown) {
  pid_t child = fork();
  if (child == 0) {
    setenv("TORCHMEM_NCCL_LOG_BYTES", "200", 1);
    if (!std::freopen("/dev/null", "w", stderr)) _exit(2);
    LogWriter writer(path, 0, 2);
    append(writer, 0, std::string(100, 'x'));
    append(writer, 1, std::string(100, 'y'));
    append(writer, 2, "z");
    LogReader reader(path, 1);
    bool right = found(reader, 0) == std::string(100, 'x') && found(reader, 1) == "(unknown)" &&
                 found(reader, 2) == "(unknown)";
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Log, ADiskThatIsFullLeavesNoHalfRecord) {
  pid_t child = fork();
  if (child == 0) {
    if (!std::freopen("/dev/null", "w", stderr)) _exit(2);
    signal(SIGXFSZ, SIG_IGN);
    rlimit most{400, 400};
    setrlimit(RLIMIT_FSIZE, &most);
    LogWriter writer(path, 0, 2);
    append(writer, 0, std::string(100, 'x'));
    auto before = std::filesystem::file_size(path);
    append(writer, 1, std::string(300, 'y'));
    append(writer, 2, "z");
    LogReader reader(path, 1);
    bool right = found(reader, 0) == std::string(100, 'x') && found(reader, 1) == "(unknown)" &&
                 found(reader, 2) == "(unknown)" && std::filesystem::file_size(path) == before;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Log, NothingIsLeftOpen) {
  auto open_files = [] {
    auto files = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  auto before = open_files();
  LogWriter writer(path, 0, 2);
  append(writer, 0, "zero");
  LogReader reader(path, 1);
  EXPECT_EQ(found(reader, 0), "zero");
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace torchmem::vgpu::nccl
