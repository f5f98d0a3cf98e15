#include <gtest/gtest.h>

#include <random>

#include "run/pickle_json.h"
#include "run/pickle_reader.h"
#include "run/pickle_writer.h"

namespace torchmem {
namespace {

using nlohmann::json;
using namespace std::string_literals;

json read(const std::string& bytes) { return json_from(Pickle(bytes).root()); }

std::string refusal(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const PickleError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Pickle, WhatIsWrittenIsRead) {
  json value = {{"numbers", {0, 255, 256, 65535, 65536, -1, -300, 2147483647, 2147483648, -2147483649}},
                {"large", {9223372036854775807, 18446744073709551615u}},
                {"real", 0.8},
                {"nothing", nullptr},
                {"yes", true},
                {"no", false},
                {"empty", {json::array(), json::object(), ""}},
                {"text", "Größe"}};
  PickleWriter writer;
  write_json(writer, value);
  EXPECT_EQ(read(writer.finish()), value);
}

TEST(Pickle, AStringIsWrittenOnce) {
  PickleWriter writer;
  json names = json::array();
  for (int i = 0; i < 100; ++i) names.push_back("the same long string");
  write_json(writer, names);
  std::string bytes = writer.finish();
  EXPECT_LT(bytes.size(), 300u);
  EXPECT_EQ(read(bytes), names);
}

TEST(Pickle, BytesThatAreNoTextAreReplaced) {
  PickleWriter writer;
  writer.string("a\xff\xc3z\xed\xa0\x80");
  EXPECT_EQ(read(writer.finish()), "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Pickle, LongNumbers) {
  EXPECT_EQ(read("\x80\x02\x8a\x00."s), 0);
  EXPECT_EQ(read("\x80\x02\x8a\x01\xff."s), -1);
  EXPECT_EQ(read("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00."s), 18446744073709551615u);
  EXPECT_NE(refusal("\x80\x02\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01."s).find("more than 64 bits"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02\x8b\x0a\x00\x00\x00..........."s).find("more than 64 bits"), std::string::npos);
}

TEST(Pickle, TheLastOfEqualKeysCounts) {
  std::string bytes = "\x80\x04}\x8c\x01"s + "aK\x01s\x8c\x01"s + "aK\x02s."s;
  Pickle pickle(bytes);
  ASSERT_TRUE(pickle.root().find("a"));
  EXPECT_EQ(pickle.root().find("a")->integer(), 2);
  EXPECT_FALSE(pickle.root().find("b"));
}

TEST(Pickle, NothingIsEverCalled) {
  // os.system("true"), in protocol 2's and protocol 4's way.
  EXPECT_NE(refusal("\x80\x02"s + "cos\nsystem\nX\x04\x00\x00\x00true\x85R."s).find("import os.system"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R."s).find("nothing was called"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02}}b."s).find("nothing was called"), std::string::npos);
}

TEST(Pickle, DamageIsSaid) {
  EXPECT_NE(refusal(""s).find("cut short"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02X\xff\xff\xff\xff"s).find("cut short (at byte 2)"), std::string::npos);
  EXPECT_NE(refusal("\x80\x06."s).find("protocol 6"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02."s).find("left over"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02(."s).find("left over"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02h\x05."s).find("did not give"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02}(K\x01u."s).find("without a value"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02K\x01(K\x02"
                    "e."s)
                .find("appends to no list"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02\xfe."s).find("not plain data (opcode 254)"), std::string::npos);
}

TEST(Pickle, NestingAndCyclesAreHarmless) {
  std::string deep = "\x80\x02"s + std::string(200000, ']') + std::string(199999, 'a') + ".";
  EXPECT_NE(refusal(deep).find("deeper"), std::string::npos);
  // A list that holds itself.
  EXPECT_NE(refusal("\x80\x02]q\x00h\x00"
                    "a."s)
                .find("deeper"),
            std::string::npos);
  // 10^30 values in a few bytes: lists of ten references to the one before.
  std::string bomb = "\x80\x02(]"s;
  for (char level = 0; level < 30; ++level) {
    bomb += "q"s + level + "](";
    for (int i = 0; i < 10; ++i) bomb += "h"s + level;
    bomb += "e";
  }
  EXPECT_NE(refusal(bomb + "l.").find("more than 5000000 values"), std::string::npos);
}

TEST(Pickle, RandomDamageNeverCrashes) {
  PickleWriter writer;
  write_json(
      writer,
      {{"segments", {{{"address", 1}, {"blocks", {1, 2, 3}}}}}, {"name", "value"}, {"x", {1.5, nullptr}}});
  std::string whole = writer.finish();
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    refusal(bytes);
  }
}

}  // namespace
}  // namespace torchmem
