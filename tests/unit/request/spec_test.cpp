#include "request/spec.h"

#include <gtest/gtest.h>

#include "torchmem/error.h"

namespace torchmem {
namespace {

using nlohmann::json;

json tensor(const std::string& text) { return parse_spec(text).value.at("tensor"); }

TEST(Spec, Defaults) {
  EXPECT_EQ(tensor("f32:2x3"),
            (json{{"dtype", "f32"}, {"shape", {2, 3}}, {"fill", "randn"}, {"spec", "f32:2x3"}}));
  EXPECT_EQ(tensor("bf16:1")["fill"], "randn");
  EXPECT_EQ(tensor("c64:1")["fill"], "randn");
  EXPECT_EQ(tensor("i64:1")["fill"], "zeros");
  EXPECT_EQ(tensor("u8:1")["fill"], "zeros");
  EXPECT_EQ(tensor("bool:1")["fill"], "ones");
  EXPECT_EQ(tensor("f32:scalar")["shape"], json::array());
  EXPECT_EQ(tensor("f32:0x3")["shape"], (json{0, 3}));  // an empty tensor is a tensor
}

TEST(Spec, Fills) {
  EXPECT_EQ(tensor("i64:2:below=50257")["below"], 50257);
  EXPECT_EQ(tensor("u8:2:below=256")["below"], 256);
  EXPECT_EQ(tensor("f32:2:value=-0.5")["value"], -0.5);
  EXPECT_EQ(tensor("i8:2:value=-128")["value"], -128);
  EXPECT_EQ(tensor("bool:2:value=false")["value"], false);
  EXPECT_EQ(tensor("i32:2:arange")["fill"], "arange");
}

TEST(Spec, Names) {
  EXPECT_EQ(parse_spec("ids=i64:2:value=3").name, "ids");
  EXPECT_EQ(parse_spec("i64:2:value=3").name, "");
}

TEST(Spec, LargestShapes) {
  EXPECT_NO_THROW(parse_spec("u8:9223372036854775807"));
  EXPECT_THROW(parse_spec("f16:9223372036854775807"), Error);
  EXPECT_THROW(parse_spec("u8:0x9223372036854775807x2"), Error);  // PyTorch overflows here, too
}

TEST(Spec, Mistakes) {
  for (const char* text : {"",
                           ":",
                           "f32",
                           "f32:",
                           "f32:x",
                           "f32:2x",
                           "f32:2 x3",
                           "f32:2.5",
                           "f32:+2",
                           "F32:2",
                           "=f32:2",
                           "a b=f32:2",
                           "f32:2:",
                           "f32:2:zeros=1",
                           "f32:2:value=",
                           "f32:2:value=nan",
                           "f32:2:value=1x",
                           "i8:2:value=128",
                           "u8:2:value=-1",
                           "bool:2:value=2",
                           "bool:2:below=2",
                           "bool:2:arange",
                           "i64:2:below=1.5",
                           "@",
                           "x=@no-such-file",
                           "f32:2:ones:3"}) {
    EXPECT_THROW(parse_spec(text), Error) << text;
  }
}

TEST(Spec, NeverCrashes) {
  std::string letters = "f32i64bool:x=@-.9below";
  unsigned state = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i)
      text += letters[(state = state * 1664525 + 1013904223) / 65536 % letters.size()];
    try {
      parse_spec(text);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace torchmem
