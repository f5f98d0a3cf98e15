#include "launch/process_assumptions.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "launch/temporary_directory.h"
#include "run/assumption_json.h"

namespace torchmem {
namespace {

const std::string read_at_9 =
    "V "
    "{\"kind\":\"assumed_value\",\"name\":\"aten::item\",\"op\":\"aten::item\",\"line\":\"m.py:9\",\"taken_"
    "for\":"
    "\"true\",\"decides\":\"branch\",\"count\":2,\"bytes\":2}\n";

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(ProcessAssumptions, OfVRecordsAlone) {
  auto assumptions = assumptions_in("torchmem-stream 1\n" + read_at_9 + "E alloc 0 1 2 3 4 -\n" + read_at_9 +
                                    "V {\"kind\":\"unmodelled_call\",\"name\":\"cusparseSpGEMM\"}\n");
  ASSERT_EQ(assumptions.size(), 2u);
  EXPECT_EQ(assumptions[0].count, 4u);
  EXPECT_TRUE(is_deciding(assumptions[0]));
  EXPECT_EQ(assumptions[1].count, 1u);
}

// A process may die at any byte.
TEST(ProcessAssumptions, OfAnyCut) {
  std::string whole = read_at_9 + read_at_9;
  for (size_t size = 0; size <= whole.size(); ++size) {
    auto assumptions = assumptions_in(whole.substr(0, size));
    uint64_t count = assumptions.empty() ? 0 : assumptions[0].count;
    EXPECT_EQ(count, size == whole.size() ? 4u : size >= read_at_9.size() ? 2u : 0u) << "cut at " << size;
  }
}

TEST(ProcessAssumptions, LeavesOutWhatIsNoAssumption) {
  for (const char* record : {"", "V", "V ", "V x", "V {", "V []", "V null", "V 1", "V {}",
                             "V {\"kind\":1,\"name\":\"a\"}", "V {\"kind\":\"toy\",\"name\":\"a\"}",
                             "V {\"kind\":\"assumed_value\"}", "V {\"kind\":\"assumed_value\",\"name\":7}",
                             "V {\"kind\":\"assumed_value\",\"name\":\"a\",\"count\":-1}",
                             "V {\"kind\":\"assumed_value\",\"name\":\"a\",\"count\":1.5}",
                             "V {\"kind\":\"assumed_value\",\"name\":\"a\",\"count\":18446744073709551615}",
                             "V {\"kind\":\"assumed_value\",\"name\":\"a\",\"bytes\":\"many\"}", "\xff\xfe",
                             "V {\"kind\":\"assumed_value\",\"name\":\"\xff\"}"}) {
    EXPECT_TRUE(assumptions_in(std::string(record) + "\n").empty()) << record;
  }
  std::string deep = "V " + std::string(100000, '[') + "\n";
  EXPECT_EQ(assumptions_in(deep + read_at_9).size(), 1u) << "what follows is read";
}

TEST(ProcessAssumptions, LeavesOutFieldsThatAreNotAsTheyMustBe) {
  auto assumptions = assumptions_in(
      "V "
      "{\"kind\":\"assumed_value\",\"name\":\"a\",\"decides\":[],\"line\":{},\"taken_for\":1,\"own\":{\"a\":"
      "1},\"what\":\"w\"}\n");
  ASSERT_EQ(assumptions.size(), 1u);
  EXPECT_EQ(assumption_to_json(assumptions[0]).dump(), R"({"bytes":0,"count":1,"name":"a","what":"w"})");
  EXPECT_FALSE(is_deciding(assumptions[0]));
}

TEST(ProcessAssumptions, DoesNotGrowForEver) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "V {\"kind\":\"assumed_value\",\"name\":\"" + std::to_string(i) + "\"}\n";
  EXPECT_EQ(assumptions_in(text).size(), 1000u);
}

TEST(ProcessAssumptions, AreInOneOfTwoFiles) {
  TemporaryDirectory directory;
  EXPECT_FALSE(read_process_assumptions(directory.path(), 5));
  write(directory.path() / "stream-5", "torchmem-stream 1\n" + read_at_9);
  write(directory.path() / "assumptions-6", read_at_9);
  write(directory.path() / "assumptions-55", "");
  ASSERT_TRUE(read_process_assumptions(directory.path(), 5));
  EXPECT_EQ(read_process_assumptions(directory.path(), 5)->size(), 1u);
  EXPECT_EQ(read_process_assumptions(directory.path(), 6)->size(), 1u);
  EXPECT_TRUE(read_process_assumptions(directory.path(), 55)->empty());
}

TEST(ProcessAssumptions, AreInFilesAlone) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "assumptions-5");
  ASSERT_EQ(mkfifo((directory.path() / "assumptions-6").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", directory.path() / "assumptions-7");
  for (uint64_t pid : {5, 6, 7}) EXPECT_FALSE(read_process_assumptions(directory.path(), pid)) << pid;
}

}  // namespace
}  // namespace torchmem
