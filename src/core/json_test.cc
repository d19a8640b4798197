// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error_of.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string error_in(const std::string& text) {
  return error_of([&] { parse_json(text, ErrorKind::format, "a.json"); });
}

TEST(ParseJson, KeepsTheOrderOfKeys) {
  const std::string text = R"({"b":1,"a":[true,null,"\u00fc"],"":{}})";
  EXPECT_EQ(parse_json(text, ErrorKind::format, "a.json").dump(),
            R"({"b":1,"a":[true,null,"ü"],"":{}})");
}

TEST(ParseJson, GoesAsDeepAsItSaysAndNoDeeper) {
  const auto nested = [](int depth) { return repeated("[", depth) + repeated("]", depth); };
  EXPECT_EQ(error_in(nested(kMaxJsonDepth)), "no error");
  EXPECT_EQ(error_in(nested(kMaxJsonDepth + 1)), "a.json: nested deeper than 64");
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
  EXPECT_EQ(error_in("[" + object(kMaxJsonKeys) + "," + object(kMaxJsonKeys) + "]"), "no error");
  EXPECT_EQ(error_in(object(kMaxJsonKeys + 1)), "a.json: an object of more than 4096 keys");
}

TEST(ParseJson, EveryFailureIsAnErrorOfTheLibrary) {
  for (const char* text :
       {"", "{", "]", "[1,]", "{\"a\"}", "nul", "1e999", "[\"\x80\"]", "[\"\xff\xfe\"]",
        "[\"\\ud800\"]", "[\"\\x\"]", "[\"\n\"]", "\"", "// x", "1 2"}) {
    EXPECT_THAT(error_in(text), StartsWith("a.json: not JSON: ")) << text;
  }
}

TEST(ParseJson, MessagesAreShortAndWithoutTheNamesOfExceptions) {
  const std::string message = error_in("[\"" + std::string(100000, 'x'));
  EXPECT_LT(message.size(), 300u);
  EXPECT_THAT(message, Not(HasSubstr("json.exception")));
}

}  // namespace
}  // namespace espalier
