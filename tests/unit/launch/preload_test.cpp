#include "launch/preload.h"

#include <gtest/gtest.h>

#include <fstream>

namespace torchmem {
namespace {

namespace fs = std::filesystem;

TEST(Preload, KeepsOrderAndWhatWasThere) {
  PreloadList list({"/usr/lib/a.so", "/usr/lib/b.so"});
  EXPECT_EQ(list.value(nullptr), "/usr/lib/a.so:/usr/lib/b.so");
  EXPECT_EQ(list.value("/c.so"), "/usr/lib/a.so:/usr/lib/b.so:/c.so");
}

// The loader would split or expand such paths: they are reached through a private folder, gone afterwards.
TEST(Preload, PathsThatTheLoaderMisreads) {
  TemporaryDirectory folder;
  fs::path odd = folder.path() / "with space:colon$ORIGIN";
  fs::create_directory(odd);
  std::ofstream(odd / "lib.so") << "content";
  std::string value;
  {
    PreloadList list({odd / "lib.so"});
    value = list.value(nullptr);
    EXPECT_EQ(value.find_first_of(" :$"), std::string::npos) << value;
    std::string content;
    std::ifstream(value) >> content;
    EXPECT_EQ(content, "content");
    EXPECT_EQ(fs::status(fs::path(value).parent_path().parent_path()).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(value));
  EXPECT_TRUE(fs::exists(odd / "lib.so"));
}

TEST(Preload, ALibraryBehindALinkFindsItsDataBesideItself) {
  TemporaryDirectory directory;
  fs::path odd = directory.path() / "with blank";
  fs::create_directories(odd / "facts");
  std::ofstream(odd / "lib.so") << "x";
  std::ofstream(odd / "facts" / "data") << "y";
  PreloadList list({odd / "lib.so"});
  fs::path library = list.paths().at(0);
  EXPECT_TRUE(fs::exists(library));
  EXPECT_TRUE(fs::exists(library.parent_path() / "facts" / "data"));
}

}  // namespace
}  // namespace torchmem
