#include "torchmem/breakdown.h"

#include <gtest/gtest.h>

#include "recorder.h"
#include "torchmem/block_history.h"
#include "torchmem/point.h"
#include "torchmem/run_file.h"

namespace torchmem {
namespace {

using test::KiB;
using test::MiB;
using test::Recorder;

std::vector<std::string> rows(const std::vector<UsageEntry>& shares) {
  std::vector<std::string> rows;
  for (const UsageEntry& share : shares) {
    rows.push_back(share.name + " " + std::to_string(share.bytes) + " " + std::to_string(share.requested) +
                   " " + std::to_string(share.blocks));
  }
  return rows;
}

using Rows = std::vector<std::string>;

Point after(uint64_t events) { return {"here", events, {}, {}}; }

// Two segments; in the first a parameter, a hole and an activation, the second free.
Recorder small_model() {
  Recorder recorder;
  int32_t conv = recorder.stack("aten::conv2d", "net.conv (Conv2d)", "m.py", 1);
  int32_t relu = recorder.stack("aten::relu", "net (Net)", "m.py", 2);
  int32_t root = recorder.stack("aten::sum", "", "m.py", 3);
  recorder.segment(64 * KiB, 2 * MiB);
  recorder.alloc(64 * KiB, 1000, 1024, Category::parameters, conv);
  recorder.alloc(65 * KiB, 2000, 2048, Category::temporaries, conv);
  recorder.alloc(67 * KiB, 4096, 4096, Category::activations, relu);
  recorder.alloc(71 * KiB, 4, 512, Category::outputs, root);
  recorder.alloc(71 * KiB + 512, 512, 512);
  recorder.segment(4 * MiB, 20 * MiB);
  recorder.free(65 * KiB, 2000);
  return recorder;
}

TEST(Breakdown, ByCategory) {
  Recorder recorder = small_model();
  BlockHistory history(recorder.run, 0);
  Breakdown parts = break_down(recorder.run, history, 0, after(9));
  EXPECT_EQ(parts.point.name, "here");
  EXPECT_EQ(parts.totals.allocated, 1024u + 4096 + 512 + 512);
  EXPECT_EQ(parts.totals.requested, 1000u + 4096 + 4 + 512);
  EXPECT_EQ(parts.totals.reserved, 22 * MiB);
  EXPECT_EQ(rows({parts.categories.begin(), parts.categories.end()}),
            (Rows{"parameters 1024 1000 1", "buffers 0 0 0", "gradients 0 0 0", "optimizer_state 0 0 0",
                  "inputs 0 0 0", "activations 4096 4096 1", "outputs 512 4 1", "temporaries 0 0 0",
                  "workspaces 0 0 0", "other 512 512 1"}));
  // Before the temporary was freed.
  parts = break_down(recorder.run, history, 0, after(7));
  EXPECT_EQ(parts.categories[static_cast<size_t>(Category::temporaries)].bytes, 2048u);
  EXPECT_EQ(parts.totals.allocated, 1024u + 2048 + 4096 + 512 + 512);
}

TEST(Breakdown, ByOpAndLineLargestFirst) {
  Recorder recorder = small_model();
  BlockHistory history(recorder.run, 0);
  Breakdown parts = break_down(recorder.run, history, 0, after(9));
  EXPECT_EQ(rows(parts.ops),
            (Rows{"aten::relu 4096 4096 1", "aten::conv2d 1024 1000 1", " 512 512 1", "aten::sum 512 4 1"}));
  EXPECT_EQ(rows(parts.lines),
            (Rows{"m.py:2 4096 4096 1", "m.py:1 1024 1000 1", " 512 512 1", "m.py:3 512 4 1"}));
  parts = break_down(recorder.run, history, 0, after(7));
  EXPECT_EQ(rows(parts.ops),
            (Rows{"aten::relu 4096 4096 1", "aten::conv2d 3072 3000 2", " 512 512 1", "aten::sum 512 4 1"}));
}

TEST(Breakdown, ByModule) {
  Recorder recorder = small_model();
  int32_t deep = recorder.stack("aten::mm", "head.0.fc (Linear)");
  recorder.alloc(65 * KiB, 2048, 2048, Category::activations, deep);
  BlockHistory history(recorder.run, 0);
  Breakdown parts = break_down(recorder.run, history, 0, after(10));
  const ModuleUsage& root = parts.root;
  EXPECT_EQ(root.path, "");
  EXPECT_EQ(root.own, 1024u);  // the output, and the block of nobody
  EXPECT_EQ(root.blocks, 2u);
  EXPECT_EQ(root.inclusive, parts.totals.allocated);
  ASSERT_EQ(root.children.size(), 2u);
  const ModuleUsage& net = root.children[0];
  EXPECT_EQ(net.path, "net");
  EXPECT_EQ(net.type, "Net");
  EXPECT_EQ(net.own, 4096u);
  EXPECT_EQ(net.inclusive, 4096u + 1024);
  EXPECT_EQ(net.by_category[static_cast<size_t>(Category::activations)], 4096u);
  EXPECT_EQ(net.by_category[static_cast<size_t>(Category::parameters)], 1024u);
  ASSERT_EQ(net.children.size(), 1u);
  EXPECT_EQ(net.children[0].path, "net.conv");
  EXPECT_EQ(net.children[0].type, "Conv2d");
  // Modules that own nothing themselves stand between the root and those below them.
  const ModuleUsage& head = root.children[1];
  EXPECT_EQ(head.path, "head");
  EXPECT_EQ(head.type, "");
  EXPECT_EQ(head.own, 0u);
  EXPECT_EQ(head.blocks, 0u);
  EXPECT_EQ(head.inclusive, 2048u);
  ASSERT_EQ(head.children.size(), 1u);
  EXPECT_EQ(head.children[0].path, "head.0");
  ASSERT_EQ(head.children[0].children.size(), 1u);
  EXPECT_EQ(head.children[0].children[0].path, "head.0.fc");
  EXPECT_EQ(head.children[0].children[0].own, 2048u);
}

TEST(Breakdown, APathOfNoSensibleDepthHarmsNobody) {
  Recorder recorder;
  std::string path;
  for (int i = 0; i < 100'000; ++i) path += "a.";
  int32_t deep = recorder.stack("aten::mm", path + "a (A)");
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 512, 512, Category::other, deep);
  BlockHistory history(recorder.run, 0);
  Breakdown parts = break_down(recorder.run, history, 0, after(2));
  EXPECT_EQ(parts.root.inclusive, 512u);
  const ModuleUsage* module = &parts.root;
  while (!module->children.empty()) module = &module->children[0];
  EXPECT_EQ(module->path, path + "a");
  EXPECT_EQ(module->own, 512u);
}

TEST(Breakdown, ByTensorAndSegment) {
  Recorder recorder = small_model();
  BlockHistory history(recorder.run, 0);
  Breakdown parts = break_down(recorder.run, history, 0, after(9));
  ASSERT_EQ(parts.tensors.size(), 4u);
  EXPECT_EQ(parts.tensors[0]->size, 4096u);
  EXPECT_EQ(parts.tensors[1]->size, 1024u);
  EXPECT_EQ(parts.tensors[2]->address, 71 * KiB);  // of the two with 512 B, the older one
  EXPECT_EQ(parts.tensors[3]->address, 71 * KiB + 512);

  ASSERT_EQ(parts.segments.size(), 2u);
  EXPECT_EQ(parts.segments[0].segment.address, 4 * MiB);
  EXPECT_EQ(parts.segments[0].inactive, 20 * MiB);
  EXPECT_EQ(parts.segments[0].largest_inactive, 20 * MiB);
  EXPECT_TRUE(parts.segments[0].holders.empty());
  EXPECT_EQ(parts.segments[1].inactive, 2 * MiB - 6144);
  EXPECT_EQ(parts.segments[1].largest_inactive, 2 * MiB - 8192);
  ASSERT_EQ(parts.segments[1].holders.size(), 4u);
  EXPECT_EQ(parts.segments[1].holders[0]->category, Category::activations);
  EXPECT_EQ(parts.largest_inactive, 20 * MiB);
}

// P19: sixteen segments of 530 MiB, each held by 270 MiB, and sixteen that are full.
TEST(Breakdown, OfASnapshotOfPyTorch) {
  torchmem::Run run = read_run_file(TEST_DATA "/P19.pickle");
  BlockHistory history(run, 0);
  Breakdown parts = break_down(run, history, 0, find_point(run, history, 0, "end"));
  EXPECT_EQ(parts.totals.allocated, 12'800 * MiB);
  EXPECT_EQ(parts.categories[static_cast<size_t>(Category::other)].bytes, 12'800 * MiB);
  EXPECT_EQ(parts.largest_inactive, 260 * MiB);
  EXPECT_EQ(parts.segments[0].inactive, 260 * MiB);
  ASSERT_EQ(parts.segments[0].holders.size(), 1u);
  EXPECT_EQ(parts.segments[0].holders[0]->size, 270 * MiB);
  parts = break_down(run, history, 0, find_point(run, history, 0, "peak"));
  EXPECT_EQ(parts.totals.allocated, 13'060 * MiB);
}

}  // namespace
}  // namespace torchmem
