#include <gtest/gtest.h>

#include "report/columns.h"
#include "report/html_data.h"
#include "torchmem/block_history.h"
#include "torchmem/report.h"
#include "torchmem/stream.h"

namespace torchmem {
namespace {

using nlohmann::json;

TEST(Columns, SevenBitsAByteAndBase64OfEveryLength) {
  Column column;
  EXPECT_EQ(column.base64(), "");
  column.add(0);
  EXPECT_EQ(column.base64(), "AA==");
  column.add(127);
  EXPECT_EQ(column.base64(), "AH8=");
  column.add(300);  // ac 02
  EXPECT_EQ(column.base64(), "AH+sAg==");
  Column most;
  most.add(UINT64_MAX);
  EXPECT_EQ(most.base64(), "////////////AQ==");
}

TEST(Columns, DifferencesAreFolded) {
  Column column;
  for (uint64_t value : {5, 5, 4, 68}) column.add_difference(value);  // +5 0 -1 +64
  EXPECT_EQ(column.base64(), "CgABgAE=");
}

// LEB128 in base64, as the page reads it.
std::vector<uint64_t> numbers_of(const std::string& base64) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : base64) {
    if (c == '=') break;
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count);
  }
  std::vector<uint64_t> values;
  uint64_t value = 0;
  int shift = 0;
  for (char c : bytes) {
    value |= static_cast<uint64_t>(c & 0x7f) << shift;
    shift += 7;
    if (c & 0x80) continue;
    values.push_back(value);
    value = 0;
    shift = 0;
  }
  return values;
}

std::vector<uint64_t> differences_of(const std::string& base64) {
  std::vector<uint64_t> values = numbers_of(base64);
  uint64_t last = 0;
  for (uint64_t& value : values) last = value = last + ((value >> 1) ^ (0 - (value & 1)));
  return values;
}

// Two blocks, of which the second is freed while another stream uses it, and a second segment.
constexpr const char* small_stream =
    "torchmem-stream 1\n"
    "M {\"device\":{\"kind\":\"virtual\",\"profile\":\"h200\"}}\n"
    "F 0 [{\"filename\":\"<op>\",\"line\":0,\"name\":\"aten::linear\"},"
    "{\"filename\":\"<module>\",\"line\":0,\"name\":\"fc (Linear)\"},"
    "{\"filename\":\"model.py\",\"line\":7,\"name\":\"forward\"}]\n"
    "T 0 {\"name\":\"fc.weight\",\"dtype\":\"f32\",\"shape\":[10,10]}\n"
    "E segment_alloc 0 140000000000000 2097152 0 1 0\n"
    "E alloc 0 140000000000000 400 0 2 0\n"
    "B 1 512\n"
    "O 1 parameters 0 -\n"
    "E alloc 0 140000000000512 1000 0 3 0\n"
    "B 2 1024\n"
    "O 2 activations - 0\n"
    "P {\"phase\":\"forward\",\"iteration\":0,\"events\":3}\n"
    "E free_requested 0 140000000000512 1000 0 4 -\n"
    "E segment_alloc 0 150000000000000 20971520 0 5 -\n"
    "E free_completed 0 140000000000512 1000 0 6 -\n";

TEST(HtmlData, BlocksAreTheLedgersBlocks) {
  torchmem::Run run = read_stream(small_stream, "test");
  BlockHistory history(run, 0);
  json data = html_data(run, "model.pt");
  ASSERT_EQ(data["devices"].size(), 1u);
  EXPECT_EQ(data["shown"], 0);
  const json& device = data["devices"][0];
  const json& blocks = device["blocks"];
  uint64_t unit = blocks["unit"];
  EXPECT_EQ(unit, 512u);
  EXPECT_EQ(device["events"], 6);
  EXPECT_EQ(device["peak"], history.peak_events());
  EXPECT_EQ(device["peak"], 3);
  EXPECT_EQ(differences_of(blocks["address"])[1] * unit, 140000000000512u);
  EXPECT_EQ(numbers_of(blocks["size"]), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(numbers_of(blocks["rest"]), (std::vector<uint64_t>{112, 24}));
  EXPECT_EQ(differences_of(blocks["born"]), (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(numbers_of(blocks["life"]), (std::vector<uint64_t>{0, 1}));
  EXPECT_EQ(differences_of(blocks["pending_block"]), (std::vector<uint64_t>{1}));
  EXPECT_EQ(numbers_of(blocks["pending_until"]), (std::vector<uint64_t>{2}));
  std::vector<uint64_t> owner = numbers_of(blocks["owner"]);
  ASSERT_EQ(owner.size(), 2u);
  EXPECT_EQ(data["categories"][numbers_of(device["owners"]["category"])[owner[0]]], "parameters");
  EXPECT_EQ(data["categories"][numbers_of(device["owners"]["category"])[owner[1]]], "activations");
  EXPECT_EQ(device["names"][numbers_of(device["owners"]["name"])[owner[0]]], "fc.weight");
  EXPECT_EQ(device["types"][numbers_of(device["owners"]["type"])[owner[0]]], "f32:10x10");
  EXPECT_EQ(device["modules"][numbers_of(device["owners"]["module"])[owner[1]]], "fc");
  EXPECT_EQ(device["lines"][numbers_of(device["owners"]["line"])[owner[1]]], "model.py:7");
  // One stack of three frames, outermost first.
  EXPECT_EQ(numbers_of(device["stacks"]["parent"]), (std::vector<uint64_t>{0, 1, 2}));
  EXPECT_EQ(numbers_of(device["owners"]["stack"])[owner[1]], 3u);
  EXPECT_EQ(differences_of(device["segment_events"]["event"]), (std::vector<uint64_t>{0, 4}));
}

TEST(HtmlData, ATraceThatDoesNotFitIsToldAndTheEndIsShown) {
  torchmem::Run run = read_stream(std::string(small_stream) + "E free_requested 0 4096 512 0 7 -\n", "test");
  json device = html_device(run, 0);
  EXPECT_NE(device["problem"].get<std::string>().find("does not fit together"), std::string::npos);
  EXPECT_EQ(device["events"], 0);
  EXPECT_EQ(device["blocks"]["size"], "");
}

TEST(HtmlReport, NamesCannotLeaveTheirElement) {
  std::string hostile = "</script><script>alert(1)</script><!--\xff\xe2\x80\xa8";
  torchmem::Run run = read_stream(small_stream, "test");
  run.info.model.path = hostile;
  run.stacks[0][0].name = hostile;
  run.tensors[0].name = hostile;
  std::string page = html_report(run, hostile);
  std::string empty = html_report(torchmem::Run(), "");
  auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count(page, "<script"), count(empty, "<script"));
  EXPECT_EQ(count(page, "</script"), count(empty, "</script"));
  EXPECT_EQ(count(page, "<!--"), 0u);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  // What is in the element is JSON, and says the name as it is but for what is no UTF-8.
  size_t start = page.find("id=\"data\">") + 10;
  json data = json::parse(page.substr(start, page.find("</script>", start) - start));
  EXPECT_EQ(data["title"], "</script><script>alert(1)</script><!--\xef\xbf\xbd\xe2\x80\xa8");
}

TEST(HtmlReport, AsksNobodyForAnything) {
  std::string page = html_report(torchmem::Run(), "nothing");
  EXPECT_NE(page.find("Content-Security-Policy\" content=\"default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("script-src 'sha256-"), std::string::npos);
  for (const char* part : {"http://", "https://", "src=", "@import", "url("})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace torchmem
