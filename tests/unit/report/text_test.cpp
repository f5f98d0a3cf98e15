#include "report/text.h"

#include <gtest/gtest.h>

#include "text/words.h"
#include "torchmem/bytes.h"
#include "torchmem/error.h"

namespace torchmem {
namespace {

TEST(Text, WrapsAtEightyColumns) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word" + std::to_string(i) + " ";
  std::string text = wrap(words, 4);
  for (size_t start = 0; start < text.size();) {
    size_t end = text.find('\n', start);
    EXPECT_LE(end - start, 80u);
    EXPECT_EQ(text.substr(start, 4), "    ");
    start = end + 1;
  }
  EXPECT_EQ(wrap("", 2), "");
  EXPECT_EQ(wrap("one\ntwo", 1), " one\n two\n");
}

TEST(Text, ALongWordLosesItsMiddle) {
  EXPECT_EQ(shorten("abcdefghijkl", 12), "abcdefghijkl");
  EXPECT_EQ(shorten("abcdefghijklm", 9), "ab...jklm");
  TextStyle terminal;
  terminal.cuts = true;
  EXPECT_EQ(wrap(std::string(200, 'x'), 0, terminal).size(), 81u);
  EXPECT_EQ(wrap(std::string(200, 'x'), 0).size(), 201u);
  // Columns, not bytes, and never half a character.
  EXPECT_EQ(shorten("äöüäöüäöüäöü", 9), "äö...üäöü");
}

// As a terminal shows them: wide ones in two, accents over the letter before.
TEST(Text, ColumnsAreATerminals) {
  EXPECT_EQ(columns_of("模型"), 4u);
  EXPECT_EQ(columns_of("e\xcc\x81"), 1u);
  EXPECT_EQ(columns_of("\xff\xfe"
                       "a"),
            3u);
  EXPECT_EQ(pad_left("模", 4), "  模");
  EXPECT_EQ(cut("模型模型模型", 9), "模型模...");
  EXPECT_EQ(cut_start("模型模型模型", 8), "...模型");
  EXPECT_EQ(shorten("a模型模型模型", 9), "a...模型");
}

TEST(Text, CutTextLosesItsEnd) {
  EXPECT_EQ(cut("abcdefghijkl", 12), "abcdefghijkl");
  EXPECT_EQ(cut("abcdefghijklm", 9), "abcdef...");
  EXPECT_EQ(cut("äöüäöüäöüäöü", 9), "äöüäöü...");
}

TEST(Text, PercentOfNothingIsZero) {
  EXPECT_EQ(percent(0, 0), "0.0 %");
  EXPECT_EQ(percent(1, 3), "33.3 %");
}

TEST(Text, Counts) {
  EXPECT_EQ(counted(1, "event"), "1 event");
  EXPECT_EQ(counted(1234567, "event"), "1,234,567 events");
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
}

TEST(Bytes, AreFormatted) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(1048575), "1.00 MiB");
  EXPECT_EQ(format_bytes(150109880320), "139.80 GiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16.00 EiB");
  EXPECT_EQ(bytes_exactly(85983232), "82.00 MiB (85,983,232 B)");
  EXPECT_EQ(bytes_exactly(5), "5 B");
}

TEST(Bytes, AreParsed) {
  EXPECT_EQ(parse_bytes("0", "--limit"), 0u);
  EXPECT_EQ(parse_bytes("1048576", "--limit"), 1048576u);
  EXPECT_EQ(parse_bytes("24GiB", "--limit"), 24ull << 30);
  EXPECT_EQ(parse_bytes("24 gib", "--limit"), 24ull << 30);
  EXPECT_EQ(parse_bytes("1.5KiB", "--limit"), 1536u);
  EXPECT_EQ(parse_bytes("1.5GB", "--limit"), 1500000000u);
  EXPECT_EQ(parse_bytes("9007199254740993", "--limit"), 9007199254740993u);  // exact beyond a double
}

void expect_refused(const char* text, const char* expected) {
  try {
    parse_bytes(text, "--limit");
    FAIL() << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("--limit: '", 0), 0u);
  }
}

TEST(Bytes, SayWhatIsWrong) {
  expect_refused("", "it is empty");
  expect_refused("-1", "it is negative");
  expect_refused("GiB", "does not start with a number");
  expect_refused("24G", "'G' may mean GiB (1024) or GB (1000)");
  expect_refused("24XB", "'XB' is not a unit");
  expect_refused("1.2.3GiB", "'1.2.3' is not a number");
  expect_refused("1e9", "'e9' is not a unit");
  expect_refused("99999999999999999999", "larger than any memory");
  expect_refused("9000000PiB", "larger than any memory");
}

TEST(Words, AreJoined) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({"a"}), "a");
  EXPECT_EQ(joined({"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined({"a", "b"}, " + "), "a + b");
}

TEST(Words, InLowerCaseAreAsciis) { EXPECT_EQ(lower_case("H200-Ä z"), "h200-Ä z"); }

}  // namespace
}  // namespace torchmem
