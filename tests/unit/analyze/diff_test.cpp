#include "torchmem/diff.h"

#include <gtest/gtest.h>

#include "recorder.h"
#include "torchmem/report.h"
#include "torchmem/run_file.h"

namespace torchmem {
namespace {

using nlohmann::json;
using test::MiB;
using test::Recorder;
using test::refusal;

enum Part { peak, phases_peak, phases_end, phases_reserved, categories, modules, ops, lines };

Account with(Part part, std::map<std::string, uint64_t> amounts) {
  Account account;
  account.devices[0][part] = std::move(amounts);
  return account;
}

std::vector<std::string> rows(const PartDiff& part) {
  std::vector<std::string> rows;
  for (const Change& change : part.changes) {
    rows.push_back(change.name + " " + std::to_string(change.before) + " " + std::to_string(change.after) +
                   " " + std::to_string(change.bytes()));
  }
  return rows;
}

using Rows = std::vector<std::string>;

TEST(Diff, OwnersThatAreMissingHaveNothing) {
  Diff diff = compare(with(ops, {{"a", 10}, {"b", 5}, {"gone", 7}, {"same", 3}}),
                      with(ops, {{"a", 9}, {"b", 12}, {"new", 100}, {"same", 3}}));
  EXPECT_TRUE(diff.devices[0].parts[ops].compared());
  EXPECT_EQ(rows(diff.devices[0].parts[ops]),
            (Rows{"new 0 100 100", "b 5 12 7", "gone 7 0 -7", "a 10 9 -1"}));
  EXPECT_TRUE(diff.devices[0].parts[ops].only_before.empty());
  EXPECT_FALSE(diff.is_empty());
}

TEST(Diff, AmountsThatAreMissingWereNotMeasured) {
  Diff diff = compare(with(peak, {{"allocated", 10}, {"reserved", 20}}),
                      with(peak, {{"allocated", 11}, {"device", 1}}));
  EXPECT_EQ(rows(diff.devices[0].parts[peak]), Rows{"allocated 10 11 1"});
  EXPECT_EQ(diff.devices[0].parts[peak].only_before, Rows{"reserved"});
  EXPECT_EQ(diff.devices[0].parts[peak].only_after, Rows{"device"});
}

TEST(Diff, PartsThatAreMissingAreNotCompared) {
  Diff diff = compare(with(ops, {{"a", 1}}), with(lines, {{"a", 2}}));
  EXPECT_FALSE(diff.devices[0].parts[ops].compared());
  EXPECT_TRUE(diff.devices[0].parts[ops].in_before);
  EXPECT_FALSE(diff.devices[0].parts[ops].in_after);
  EXPECT_TRUE(diff.is_empty());
  json document = diff_json(diff);
  EXPECT_FALSE(document.contains("ops"));
  EXPECT_EQ(document["not_compared"].size(), diff_part_count);
  EXPECT_NE(diff_text(diff, 10).find("there is nothing that both of them say"), std::string::npos);
}

TEST(Diff, OfASnapshotOfPyTorch) {
  Account account = account_of(read_run_file(TEST_DATA "/P19.pickle"), "P19.pickle");
  EXPECT_EQ(account.kind, "memory snapshot");
  ASSERT_TRUE(account.devices[0][peak]);
  EXPECT_EQ(account.devices[0][peak]->at("allocated"), 13'060 * MiB);
  EXPECT_EQ(account.devices[0][peak]->at("reserved"), 16'960 * MiB);
  EXPECT_FALSE(account.devices[0][phases_end]);
  EXPECT_FALSE(account.devices[0][categories]);
  EXPECT_FALSE(account.devices[0][modules]);
}

TEST(Diff, OfARun) {
  Recorder recorder;
  int32_t stack = recorder.stack("aten::mm", "fc (Linear)", "m.py", 3);
  recorder.segment(4096, 2 * MiB);
  recorder.alloc(4096, 512, 512, Category::parameters);
  recorder.alloc(4608, 1000, 1024, Category::activations, stack);
  recorder.phase("forward", 0, 1);
  recorder.run.phases[0].allocated = Usage{1536, 1536};
  Account account = account_of(recorder.run, "a");
  EXPECT_EQ(account.kind, "run file");
  EXPECT_EQ(account.devices[0][phases_end], (std::map<std::string, uint64_t>{{"forward:0.1", 1536}}));
  EXPECT_FALSE(account.devices[0][phases_reserved]);
  ASSERT_TRUE(account.devices[0][categories]);
  EXPECT_EQ(account.devices[0][categories]->at("activations"), 1024u);
  EXPECT_EQ(account.devices[0][modules], (std::map<std::string, uint64_t>{{"", 512}, {"fc", 1024}}));
  EXPECT_EQ(account.devices[0][ops], (std::map<std::string, uint64_t>{{"", 512}, {"aten::mm", 1024}}));
  EXPECT_EQ(account.devices[0][lines], (std::map<std::string, uint64_t>{{"", 512}, {"m.py:3", 1024}}));

  // The trace lacks what the phase's own statistics say: owners would not add up to that peak.
  recorder.run.phases[0].allocated = Usage{1536, 9999};
  account = account_of(recorder.run, "a");
  EXPECT_EQ(account.devices[0][peak]->at("allocated"), 9999u);
  EXPECT_FALSE(account.devices[0][categories]);
}

TEST(Diff, AmountsBeyondAllMemoryAreRefused) {
  json report = {
      {"schema", "torchmem.profile/1"}, {"phases", json::array()}, {"peak", {{"allocated_bytes", -5}}}};
  EXPECT_EQ(refusal([&] { account_of(report, "a"); }).first, ErrorKind::bad_input);
}

TEST(Diff, TheTextIsNarrow) {
  std::map<std::string, uint64_t> before;
  std::map<std::string, uint64_t> after;
  for (int i = 0; i < 30; ++i) {
    before[std::string(200, 'x') + std::to_string(i)] = 1;
    after[std::string(200, 'y') + std::to_string(i)] = INT64_MAX;
  }
  Account one = with(lines, before);
  one.file = std::string(300, 'f');
  one.kind = "memory snapshot";
  Diff diff = compare(one, with(lines, after));
  TextStyle terminal;
  terminal.cuts = true;
  std::string text = diff_text(diff, 40, terminal);
  size_t start = 0;
  for (size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
    EXPECT_LE(end - start, 80u);
}

}  // namespace
}  // namespace torchmem
