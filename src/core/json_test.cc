// SPDX-License-Identifier: Apache-2.0
#include "espalier/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/random.h"
#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::StartsWith;

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string error_in(const std::string& text) {
  return error_of([&] { Json::parse(text, "a.json"); });
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  const std::string text = R"({"b":1,"a":[true,null,"\u00fc"],"":{}})";
  EXPECT_EQ(Json::parse(text, "a.json").dump(), R"({"b":1,"a":[true,null,"ü"],"":{}})");
}

TEST(ParseJson, GoesAsDeepAsItSaysAndNoDeeper) {
  const auto nested = [](int depth) { return repeated("[", depth) + repeated("]", depth); };
  EXPECT_EQ(error_in(nested(Json::kMaxDepth)), "no error");
  EXPECT_EQ(error_in(nested(Json::kMaxDepth + 1)), "a.json: nested deeper than 64");
  EXPECT_EQ(error_in(repeated("[", 1000000)), "a.json: nested deeper than 64");
  EXPECT_EQ(error_in(repeated(R"({"a":)", 1000000)), "a.json: nested deeper than 64");
}

TEST(ParseJson, NoKeyIsThereTwiceInOneObject) {
  EXPECT_EQ(error_in(R"({"a":1,"a":1})"), R"(a.json: the key "a" is there twice)");
  EXPECT_EQ(error_in(R"({"a":1,"b":{"a":1},"\u0061":2})"), R"(a.json: the key "a" is there twice)");
  EXPECT_EQ(error_in(R"([{"a":[{"c":1,"b":2,"c":3}]}])"), R"(a.json: the key "c" is there twice)");
  EXPECT_EQ(error_in(R"({"a":{"a":{"a":1},"b":{"a":1}},"b":[{"a":1},{"a":1}]})"), "no error");
}

TEST(ParseJson, BracketsInStringsDoNotCount) {
  EXPECT_EQ(error_in("[\"" + repeated("[", 1000) + "\\\"" + repeated("{", 1000) + "\"]"),
            "no error");
  EXPECT_EQ(error_in("[\"\\\\\"," + repeated("[", 1000)), "a.json: nested deeper than 64");
}

TEST(ParseJson, CountsTheKeysOfEachObject) {
  const auto object = [](int keys) {
    std::string text = "{\"a\":0";
    for (int i = 1; i < keys; ++i) text += ",\"" + std::to_string(i) + "\":0";
    return text + "}";
  };
  EXPECT_EQ(error_in("[" + object(Json::kMaxKeys) + "," + object(Json::kMaxKeys) + "]"),
            "no error");
  EXPECT_EQ(error_in(object(Json::kMaxKeys + 1)), "a.json: an object of more than 4096 keys");
}

TEST(ParseJson, EveryFailureIsAnErrorOfTheLibrary) {
  for (const char* text :
       {"", "{", "]", "[1,]", "{\"a\"}", "nul", "1e999", "[\"\x80\"]", "[\"\xff\xfe\"]",
        "[\"\\ud800\"]", "[\"\\x\"]", "[\"\n\"]", "\"", "// x", "1 2"}) {
    EXPECT_THAT(error_in(text), StartsWith("a.json: not JSON: ")) << text;
  }
}

TEST(ParseJson, MessagesSayWhereAndAreShort) {
  EXPECT_EQ(error_in("{\"a\": 1,\n  b}"),
            "a.json: not JSON: line 2, column 3: found 'b', wanted a key in quotes");
  EXPECT_EQ(error_in("[1 2]"), "a.json: not JSON: line 1, column 4: found '2', wanted ',' or ']'");
  EXPECT_EQ(error_in("[\"\xff\"]"),
            "a.json: not JSON: line 1, column 3: found the byte 0xff, wanted UTF-8");
  EXPECT_EQ(error_in("{"),
            "a.json: not JSON: line 1, column 2: found the end, wanted a key in quotes");
  EXPECT_LT(error_in("[\"" + std::string(100000, 'x')).size(), 300u);
  EXPECT_LT(error_in("[" + std::string(100000, '9')).size(), 300u);
}

// Any value of at most so many levels; strings and names have all kinds of characters.
Json random_json(Random& random, int levels) {
  const auto text = [&] {
    constexpr std::array kParts = {"a", "\"", "\\", "\n", "\x01", "\x7f", "ü", "名", "😀", "/"};
    std::string out;
    while (random.uniform() < 0.7) out += kParts[random.below(kParts.size())];
    return out;
  };
  switch (random.below(levels > 0 ? 8 : 6)) {
    case 0:
      return {};
    case 1:
      return random.below(2) == 0;
    case 2:
      return random.bits() >> random.below(64);
    case 3:
      return -static_cast<std::int64_t>(random.bits() >> (1 + random.below(63)));
    case 4: {
      const double value = std::bit_cast<double>(random.bits());
      return std::isfinite(value) ? value : 0.5;
    }
    case 5:
      return text();
    case 6: {
      Json array = Json::array();
      for (std::size_t n = random.below(4); n > 0; --n)
        array.push_back(random_json(random, levels - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (std::size_t n = random.below(4); n > 0; --n)
        object[text()] = random_json(random, levels - 1);
      return object;
    }
  }
}

TEST(Json, WhatIsWrittenIsReadAsItWas) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Json json = random_json(random, 4);
    for (const int indent : {-1, 0, 2}) {
      const std::string text = json.dump(indent);
      const Json read = Json::parse(text);
      ASSERT_EQ(read, json) << text;
      ASSERT_EQ(read.dump(indent), text);
    }
  }
}

// Hostile text: an error of the library, or a value whose text reads back.
TEST(Json, AnyTextIsRefusedOrRead) {
  Random random(2);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = random_json(random, 3).dump(random.below(2) == 0 ? -1 : 1);
    for (std::size_t n = random.below(3); n > 0 && !text.empty(); --n) {
      const std::size_t at = random.below(text.size());
      if (random.below(2) == 0)
        text.erase(at, 1);
      else
        text[at] = static_cast<char>(random.below(2) == 0 ? random.below(256)
                                                          : "[]{},:\"0e.-"[random.below(11)]);
    }
    try {
      const Json json = Json::parse(text);
      ASSERT_EQ(Json::parse(json.dump()), json) << text;
      ++read;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(read, 1000);
}

TEST(Json, NumbersAreSpelledAsModelFilesAlwaysHadThem) {
  const auto spelled = [](double value) { return Json(value).dump(); };
  EXPECT_EQ(spelled(0), "0.0");
  EXPECT_EQ(spelled(-0.0), "-0.0");
  EXPECT_EQ(spelled(1), "1.0");
  EXPECT_EQ(spelled(-12.5), "-12.5");
  EXPECT_EQ(spelled(0.1), "0.1");
  EXPECT_EQ(spelled(0.00012), "0.00012");
  EXPECT_EQ(spelled(0.00001), "1e-05");
  EXPECT_EQ(spelled(123456789012345), "123456789012345.0");
  EXPECT_EQ(spelled(1e15), "1e+15");
  EXPECT_EQ(spelled(1.5e300), "1.5e+300");
  EXPECT_EQ(spelled(std::nan("")), "null");
  EXPECT_EQ(spelled(0.1f), "0.10000000149011612");
  EXPECT_EQ(Json::single(0.1f).dump(), "0.1");
  EXPECT_EQ(Json(~std::uint64_t{0}).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).dump(), "-9223372036854775808");
}

TEST(Json, NumbersAreEqualByValueAndReadOnlyAsWhatHoldsThem) {
  EXPECT_EQ(Json(5), Json(5.0));
  EXPECT_EQ(Json(5u), Json(5));
  EXPECT_NE(Json(~std::uint64_t{0}), Json(-1));
  EXPECT_EQ(Json(3e1).get<int>(), 30);
  EXPECT_THROW(Json(0.5).get<int>(), JsonError);
  EXPECT_THROW(Json(1e300).get<std::int64_t>(), JsonError);
  EXPECT_THROW(Json(-1).get<std::uint64_t>(), JsonError);
  EXPECT_THROW(Json("5").get<int>(), JsonError);
  EXPECT_THROW(Json(5).string(), JsonError);
  EXPECT_THROW(Json(5).get<bool>(), JsonError);
}

TEST(Json, PairsThatBeginWithAStringAreMembers) {
  EXPECT_EQ((Json{{"a", 1}, {"b", {1, 2}}}).dump(), R"({"a":1,"b":[1,2]})");
  EXPECT_EQ((Json{{1, 2}, {"b", 3}}).dump(), R"([[1,2],["b",3]])");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
  Json json;
  json["list"].push_back(1);
  json["list"].push_back({{"a", nullptr}});
  EXPECT_EQ(json.dump(), R"({"list":[1,{"a":null}]})");
  EXPECT_THROW(json["list"]["a"], JsonError);
  EXPECT_THROW(std::as_const(json)["other"], JsonError);
  EXPECT_THROW(json["list"][2], JsonError);
  json.erase("list");
  EXPECT_EQ(json.dump(), "{}");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Json("a\xff\xc3(\xe2\x82z").dump(), "\"a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbdz\"");
}

}  // namespace
}  // namespace espalier
