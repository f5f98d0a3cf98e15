#include "run/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <system_error>

namespace torchmem {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "torchmem_file_test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  size_t files() const { return static_cast<size_t>(std::distance(fs::directory_iterator(directory_), {})); }

  fs::path directory_;
};

TEST_F(FileTest, WritesAndReplaces) {
  write_file_whole(directory_ / "a", "one");
  write_file_whole(directory_ / "a", "two");
  EXPECT_EQ(MappedFile(directory_ / "a").text(), "two");
  EXPECT_EQ(files(), 1u);
}

TEST_F(FileTest, ALinkStaysALink) {
  write_file_whole(directory_ / "a", "one");
  fs::create_symlink("a", directory_ / "link");
  write_file_whole(directory_ / "link", "two");
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(MappedFile(directory_ / "a").text(), "two");
}

TEST_F(FileTest, NothingIsLeftWhenItCannotWrite) {
  EXPECT_THROW(write_file_whole(directory_ / "missing" / "a", "one"), std::system_error);
  EXPECT_THROW(write_file_whole(directory_, "one"), std::system_error);
  EXPECT_THROW(write_file_whole("/dev/full", "one"), std::system_error);
  EXPECT_EQ(files(), 0u);
  write_file_whole("/dev/null", "one");
}

TEST_F(FileTest, ReadingSaysWhatIsWrong) {
  EXPECT_THROW(MappedFile(directory_ / "missing"), std::system_error);
  write_file_whole(directory_ / "empty", "");
  EXPECT_EQ(MappedFile(directory_ / "empty").text(), "");
}

}  // namespace
}  // namespace torchmem
