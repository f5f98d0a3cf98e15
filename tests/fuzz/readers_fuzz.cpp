// Readers of files that come from anywhere: whatever the bytes, they return or throw Error. Mutations of good
// files, the same in every run; TORCHMEM_FUZZ_ROUNDS asks for more.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "torchmem/breakdown.h"
#include "torchmem/error.h"
#include "torchmem/growth.h"
#include "torchmem/run_file.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

int rounds() {
  const char* wanted = std::getenv("TORCHMEM_FUZZ_ROUNDS");
  return wanted ? std::atoi(wanted) : 400;
}

std::string read_file(const std::string& name) {
  std::ifstream in(std::string(TORCHMEM_TEST_DATA) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

const char* const stream =
    "torchmem-stream 1\n"
    "M {\"model\":{\"path\":\"model.pt\"},\"device\":{\"kind\":\"virtual\",\"total_bytes\":150109880320}}\n"
    "F 0 [{\"filename\":\"model.py\",\"line\":3,\"name\":\"forward\"}]\n"
    "E segment_alloc 0 139637976727552 2097152 0 1 0\n"
    "E alloc 0 139637976727552 100 0 2 0\n"
    "B 1 512\n"
    "T 0 {\"name\":\"weight\",\"dtype\":\"f32\",\"shape\":[5,5]}\n"
    "O 1 activations 0 0\n"
    "P {\"phase\":\"load\",\"events\":2,\"allocated_bytes\":{\"current\":512,\"peak\":512}}\n"
    "V {\"kind\":\"assumed_value\",\"name\":\"item\",\"bytes\":8,\"count\":1}\n"
    "E free_requested 0 139637976727552 100 0 3 -\n"
    "E free_completed 0 139637976727552 100 0 4 -\n"
    "Z {\"segments\":[]}\n"
    "X {\"kind\":\"model_failed\",\"message\":\"it failed\"}\n";

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string bytes) {
    for (size_t changes = 1 + pick(4); changes > 0 && !bytes.empty(); --changes) change(bytes);
    return bytes;
  }

 private:
  size_t pick(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }

  void change(std::string& bytes) {
    const size_t at = pick(bytes.size());
    switch (pick(6)) {
      case 0:
        bytes[at] = static_cast<char>(pick(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << pick(8)));
        break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        bytes.insert(at, 1 + pick(8), static_cast<char>(pick(256)));
        break;
      case 4:
        bytes.erase(at, 1 + pick(16));
        break;
      default:
        bytes.insert(at, bytes.substr(pick(bytes.size()), 1 + pick(64)));
        break;
    }
  }

  std::mt19937 random_;
};

template <class Read>
void expect_no_surprise(const std::string& good, unsigned seed, Read read) {
  ASSERT_FALSE(good.empty());
  EXPECT_NO_THROW(read(good));
  Mutator mutator(seed);
  for (int round = 0; round < rounds(); ++round) {
    const std::string bytes = mutator.mutate(good);
    try {
      read(bytes);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "") << "round " << round;
    } catch (const std::exception& error) {
      FAIL() << "round " << round << ": " << error.what();
    }
  }
}

// Whose the bytes are is asked of whatever was read.
void attribute(const torchmem::Run& run) {
  for (int32_t device = 0; device < static_cast<int32_t>(run.traces.size()); ++device) {
    BlockHistory history(run, device);
    for (const char* name : {"peak", "reserved-peak", "end"}) {
      Breakdown parts = break_down(run, history, device, find_point(run, history, device, name));
      ASSERT_EQ(parts.root.inclusive, parts.totals.allocated);
    }
    find_growth(run, history, device);
  }
}

TEST(ReadersFuzz, Snapshots) {
  unsigned seed = 1;
  for (const char* name : {"P21_protocol_2.pickle", "P21_protocol_3.pickle", "P21_protocol_4.pickle",
                           "P21_protocol_5.pickle", "P19.pickle"}) {
    SCOPED_TRACE(name);
    expect_no_surprise(read_file(name), seed++,
                       [](const std::string& bytes) { attribute(read_run(bytes, "fuzzed")); });
  }
}

TEST(ReadersFuzz, RunFiles) {
  const std::string file = write_run(read_stream(stream, "good"));
  expect_no_surprise(file, 200, [](const std::string& bytes) { attribute(read_run(bytes, "fuzzed")); });
}

TEST(ReadersFuzz, EventStreams) {
  expect_no_surprise(stream, 100, [](const std::string& bytes) { attribute(read_stream(bytes, "fuzzed")); });
}

}  // namespace
}  // namespace torchmem
