#include "request/assume_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "torchmem/error.h"

namespace torchmem {
namespace {

std::string pairs(const std::string& text) { return nlohmann::json(parse_assumptions(text, "a.txt")).dump(); }

std::string refusal(const std::string& text) {
  try {
    return "accepted: " + pairs(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    return error.what();
  }
}

TEST(AssumeFile, HasLinesAndOperators) {
  EXPECT_EQ(pairs("model.py:31: true\n"), R"([["model.py:31","true"]])");
  EXPECT_EQ(pairs("/a b/model.py:1: false"), R"([["/a b/model.py:1","false"]])") << "no newline at its end";
  EXPECT_EQ(pairs("aten::_local_scalar_dense: 3"), R"([["aten::_local_scalar_dense","3"]])");
  EXPECT_EQ(pairs("code/__torch__/m.py:7: 1\n\n  aten::item :  2  \n"),
            R"([["code/__torch__/m.py:7","1"],["aten::item","2"]])");
}

// The order is the file's: whoever looks a place up may take the first that fits.
TEST(AssumeFile, KeepsTheOrder) {
  EXPECT_EQ(pairs("z.py:1: 1\na.py:1: 2\n"), R"([["z.py:1","1"],["a.py:1","2"]])");
}

TEST(AssumeFile, KnowsTheKindsOfValues) {
  EXPECT_EQ(pairs("a.py:1: 1.0"), R"([["a.py:1","1.0"]])") << "as it was written";
  EXPECT_EQ(pairs("a.py:1: -9223372036854775808"), R"([["a.py:1","-9223372036854775808"]])");
  EXPECT_EQ(pairs("a.py:1: 9223372036854775807"), R"([["a.py:1","9223372036854775807"]])");
  EXPECT_EQ(pairs("a.py:1: -1.5e-3"), R"([["a.py:1","-1.5e-3"]])");
  EXPECT_EQ(pairs("a.py:1: .5"), R"([["a.py:1",".5"]])");
  EXPECT_EQ(pairs("a.py:1: inf\nb.py:1: -inf\nc.py:1: nan"),
            R"([["a.py:1","inf"],["b.py:1","-inf"],["c.py:1","nan"]])");
}

// A scaler that overflows once.
TEST(AssumeFile, TakesOneValueAfterTheOther) {
  EXPECT_EQ(pairs("a.py:1: 1, 0\nb.py:1: true,false ,inf"),
            R"([["a.py:1","1,0"],["b.py:1","true,false,inf"]])");
  for (const char* list : {"1,", ",1", "1,,2", ",", "1,x"})
    EXPECT_NE(refusal("a.py:1: " + std::string(list)).find("is no value"), std::string::npos) << list;
}

TEST(AssumeFile, LeavesCommentsOut) {
  EXPECT_EQ(pairs("# a.py:1: 1\n  # b\na.py:2: 2 # c: d\n"), R"([["a.py:2","2"]])");
  EXPECT_EQ(pairs("a#b.py:1: 1"), R"([["a#b.py:1","1"]])") << "no blank before it: a part of the name";
}

TEST(AssumeFile, TakesWhatEditorsWrite) {
  EXPECT_EQ(pairs("\xef\xbb\xbf# x\r\na.py:1: true\r\n"), R"([["a.py:1","true"]])");
  EXPECT_EQ(pairs("\xc3\xa4.py:1: true\n"), "[[\"\xc3\xa4.py:1\",\"true\"]]");
}

TEST(AssumeFile, SaysWhichLineIsWrong) {
  EXPECT_EQ(refusal("a.py:1: 1\na.py:2\n"),
            "--assume a.txt: line 2: expected PLACE: VALUE, e.g. model.py:31: true, got 'a.py:2'");
  EXPECT_EQ(refusal("a.py:1: maybe"),
            "--assume a.txt: line 1: 'maybe' is no value. Expected true, false, an integer, a "
            "float, inf, -inf or nan");
  EXPECT_EQ(refusal("a.py: 1"),
            "--assume a.txt: line 1: 'a.py' is no place. Expected a line such as model.py:31, or an "
            "operator such as aten::item");
  EXPECT_EQ(refusal("a.py:1: 1\n\nb.py:1: 2\na.py:1: 1\n"),
            "--assume a.txt: line 4: 'a.py:1' is there twice; expected each place once");
}

TEST(AssumeFile, RefusesWhatIsNoPlace) {
  for (const char* place : {"a.py:0", "a.py:-1", "a.py:1x", "a.py:01", "a.py:", "a.py:9999999999", ":1",
                            " :1", "aten::", "::item", "aten::a b", "aten:item", "a::b::c", "item"}) {
    EXPECT_NE(refusal(std::string(place) + ": 1").find("is no place"), std::string::npos) << place;
  }
}

TEST(AssumeFile, RefusesWhatIsNoValue) {
  for (const char* value : {"True", "yes", "0x10", "1_000", "+1", "1e", "e5", "--1", "infinity", "INF",
                            "-nan", "nan(1)", "1 2", "1.0f", "''"}) {
    EXPECT_NE(refusal("a.py:1: " + std::string(value)).find("is no value"), std::string::npos) << value;
  }
  EXPECT_NE(refusal("a.py:1: 9223372036854775808").find("does not fit an integer of 64 bits"),
            std::string::npos);
  EXPECT_NE(refusal("a.py:1: 1e999").find("does not fit a float of 64 bits"), std::string::npos);
  EXPECT_NE(refusal("a.py:1: ").find("expected PLACE: VALUE"), std::string::npos);
}

TEST(AssumeFile, RefusesWhatIsNoText) {
  EXPECT_EQ(refusal("a.py:1: 1\n\xff\xfe\n"), "--assume a.txt: line 2: it is not UTF-8 text");
  EXPECT_EQ(refusal("# \xc3\n"), "--assume a.txt: line 1: it is not UTF-8 text") << "not even in a comment";
  EXPECT_NE(refusal(std::string("a\0.py:1: 1", 10)).find("control character"), std::string::npos);
  EXPECT_NE(refusal("a\x1b[31m.py:1: 1").find("control character"), std::string::npos);
}

TEST(AssumeFile, RefusesNothingAndTooMuch) {
  EXPECT_NE(refusal("").find("there is nothing in it"), std::string::npos);
  EXPECT_NE(refusal("\n# only this\n").find("there is nothing in it"), std::string::npos);
  std::string many;
  for (int i = 1; i < 10000; ++i) many += "some/model.py:" + std::to_string(i) + ": 1\n";
  EXPECT_NE(refusal(many).find("it is too long"), std::string::npos);
}

// A line of a megabyte does not make a message of one.
TEST(AssumeFile, QuotesBriefly) { EXPECT_LT(refusal(std::string(100000, 'x')).size(), 300u); }

}  // namespace
}  // namespace torchmem
