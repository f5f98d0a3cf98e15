#include "request/zip_directory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

namespace torchmem {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ZipDirectory, ListsATorchScriptArchive) {
  std::string bytes = read(TEST_DATA "/P11.pt");
  auto entries = read_zip_directory(bytes);
  ASSERT_TRUE(entries);
  auto version = std::find_if(entries->begin(), entries->end(),
                              [](const ZipEntry& e) { return e.name == "P11/version"; });
  ASSERT_NE(version, entries->end());
  EXPECT_EQ(stored_data(bytes, *version), "3\n");
}

std::string little_endian(uint64_t value, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// Offsets beyond 4 GiB, as in models of that size: only the table of contents is made, the data is not there.
TEST(ZipDirectory, ReadsZip64) {
  std::string name = "big/data.pkl";
  uint64_t offset = 5ull << 30;
  std::string extra =
      little_endian(1, 2) + little_endian(16, 2) + little_endian(6ull << 30, 8) + little_endian(offset, 8);
  std::string header = "PK\x01\x02" + std::string(6, '\0') + std::string(6, '\0') + std::string(4, '\0') +
                       little_endian(10, 4) + little_endian(0xffffffff, 4) + little_endian(name.size(), 2) +
                       little_endian(extra.size(), 2) + std::string(10, '\0') + little_endian(0xffffffff, 4) +
                       name + extra;
  header.replace(20, 4, little_endian(0xffffffff, 4));
  header.replace(24, 4, little_endian(10, 4));
  std::string end64 = "PK\x06\x06" + little_endian(44, 8) + std::string(12, '\0') + little_endian(1, 8) +
                      little_endian(1, 8) + little_endian(header.size(), 8) + little_endian(0, 8);
  std::string locator =
      "PK\x06\x07" + little_endian(0, 4) + little_endian(header.size(), 8) + little_endian(1, 4);
  std::string end = "PK\x05\x06" + std::string(4, '\0') + little_endian(0xffff, 2) +
                    little_endian(0xffff, 2) + little_endian(0xffffffff, 4) + little_endian(0xffffffff, 4) +
                    little_endian(0, 2);
  std::string bytes = header + end64 + locator + end;
  auto entries = read_zip_directory(bytes);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->at(0).name, name);
  EXPECT_EQ(entries->at(0).offset, offset);
  EXPECT_FALSE(stored_data(bytes, entries->at(0)));
}

TEST(ZipDirectory, DamageNeverCrashes) {
  std::string whole = read(TEST_DATA "/P03_tensor.pt");
  for (size_t size = 0; size < whole.size(); size += 13)
    EXPECT_FALSE(read_zip_directory(whole.substr(0, size)));
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[bytes.size() - 1 - random() % 600] = static_cast<char>(random());
    if (auto entries = read_zip_directory(bytes)) {
      for (const ZipEntry& entry : *entries) stored_data(bytes, entry);
    }
  }
}

}  // namespace
}  // namespace torchmem
