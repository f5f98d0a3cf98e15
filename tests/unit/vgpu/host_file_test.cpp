#include "vgpu/device/host_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace torchmem::vgpu {
namespace {

constexpr size_t test_bytes = 1 << 20;

// A file of its own and a private mapping of it.
class Mapped {
 public:
  Mapped() : path_(testing::TempDir() + "torchmem_mapped_" + std::to_string(getpid())) {
    std::vector<char> bytes(test_bytes);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    int file = open(path_.c_str(), O_RDONLY);
    memory_ = static_cast<char*>(mmap(nullptr, test_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0));
    close(file);
  }
  ~Mapped() {
    munmap(memory_, test_bytes);
    unlink(path_.c_str());
  }
  char* memory() { return memory_; }

 private:
  std::string path_;
  char* memory_;
};

TEST(HostFile, GivesBackWhatItKept) {
  HostFile file;
  std::vector<char> bytes(test_bytes, 'a');
  auto first = file.keep(bytes.data(), bytes.size());
  bytes.assign(test_bytes, 'b');
  auto second = file.keep(bytes.data(), bytes.size());
  if (!first) GTEST_SKIP() << "no file system with room that is not memory";
  std::string read(10, '?');
  ASSERT_TRUE(first->read(test_bytes - 10, read.data(), 10));
  EXPECT_EQ(read, std::string(10, 'a'));
  first.reset();
  ASSERT_TRUE(second->read(0, read.data(), 10));
  EXPECT_EQ(read, std::string(10, 'b'));
}

TEST(HostFile, AChildTakesNothingFromItsParent) {
  HostFile file;
  std::vector<char> bytes(test_bytes, 'a');
  auto kept = file.keep(bytes.data(), bytes.size());
  if (!kept) GTEST_SKIP() << "no file system with room that is not memory";
  if (pid_t child = fork(); child == 0) {
    std::vector<char> own(test_bytes, 'c');
    auto its = file.keep(own.data(), own.size());
    kept.reset();
    _exit(its ? 0 : 1);
  } else {
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  char byte = '?';
  ASSERT_TRUE(kept->read(0, &byte, 1));
  EXPECT_EQ(byte, 'a');
}

TEST(MappedExtent, IsTheFileBehindAMapping) {
  Mapped mapped;
  volatile char touched = mapped.memory()[5000];
  (void)touched;
  auto extent = mapped_extent(mapped.memory() + 4097, 10000);
  if (!extent) GTEST_SKIP() << "no /proc/self/pagemap here";
  std::string read(10000, '?');
  ASSERT_TRUE(extent->read(0, read.data(), read.size()));
  EXPECT_EQ(read, std::string(mapped.memory() + 4097, 10000));
}

TEST(MappedExtent, IsNotWherePagesWereWritten) {
  Mapped mapped;
  mapped.memory()[8192] ^= 1;
  EXPECT_EQ(mapped_extent(mapped.memory(), test_bytes), nullptr);
}

TEST(MappedExtent, IsNotWhereMemoryIsNoFilesOrEndsWithIt) {
  std::vector<char> heap(test_bytes, 'h');
  EXPECT_EQ(mapped_extent(heap.data(), heap.size()), nullptr);
  Mapped mapped;
  EXPECT_EQ(mapped_extent(mapped.memory() + test_bytes - 100, 200), nullptr);
}

}  // namespace
}  // namespace torchmem::vgpu
